import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';

import { RedisCluster } from '../redis/redis-cluster.js';
import { redisVersion } from '../redis/redis-server.js';
import { describeWithRedis } from '../redis/with-redis.js';

describeWithRedis(`the store on a cluster of Redis ${redisVersion()} keeps the contract`, () => {
  let cluster: RedisCluster;
  let store: RedisIdempotencyStore;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    store = new RedisIdempotencyStore(new Cluster(cluster.addresses, { lazyConnect: true }));
  }, 60_000);
  afterAll(async () => {
    await store.close();
    await cluster.stop();
  });

  for (const callers of [16, 64]) {
    const cases = idempotencyStoreContract(() => store, { callers });
    for (const { name, run } of cases) it(`${callers} callers: ${name}`, run);
  }

  it('and each of its three servers has records', async () => {
    for (const size of await cluster.sizes()) expect(size).toBeGreaterThan(0);
  });
});
