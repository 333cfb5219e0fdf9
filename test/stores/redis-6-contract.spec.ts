import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterAll, beforeAll, it } from '@jest/globals';
import { Redis } from 'ioredis-6';

import { redisVersion, RedisServer } from '../redis/redis-server.js';
import { describeWithRedis } from '../redis/with-redis.js';

describeWithRedis(
  `the store on Redis ${redisVersion()}, with a client of ioredis 6, keeps the contract`,
  () => {
    let server: RedisServer;
    let store: RedisIdempotencyStore;

    beforeAll(async () => {
      server = await RedisServer.start();
      const client = new Redis(server.port, '127.0.0.1', { lazyConnect: true });
      store = new RedisIdempotencyStore(client as never);
    });
    afterAll(async () => {
      await store.close();
      await server.stop();
    });

    for (const { name, run } of idempotencyStoreContract(() => store)) it(name, run);
  },
);
