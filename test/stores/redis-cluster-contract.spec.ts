import { RedisIdempotencyStore } from '@exactly-once/redis';
import { expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';

import { describeRedisContract } from '../contract/redis-contract.js';
import { RedisCluster } from '../redis/redis-cluster.js';

let cluster: RedisCluster;

describeRedisContract(
  'Redis Cluster, three servers',
  async () => {
    cluster = await RedisCluster.start();
    const store = new RedisIdempotencyStore(new Cluster(cluster.addresses, { lazyConnect: true }));
    return { servers: cluster.nodes, store };
  },
  () => {
    it('each of its three servers has records', async () => {
      for (const size of await cluster.sizes()) expect(size).toBeGreaterThan(0);
    });
  },
);
