import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterAll, beforeAll, it } from '@jest/globals';

import { redisVersion, RedisServer } from '../redis/redis-server.js';
import { describeWithRedis } from '../redis/with-redis.js';

for (const callers of [16, 64]) {
  describeWithRedis(`the store on Redis ${redisVersion()} keeps the contract, ${callers} callers`, () => {
    let server: RedisServer;
    let store: RedisIdempotencyStore;

    beforeAll(async () => {
      server = await RedisServer.start();
      store = new RedisIdempotencyStore(server.url);
    });
    afterAll(async () => {
      await store.close();
      await server.stop();
    });

    // Time is Redis's, so the cases wait for it.
    for (const { name, run } of idempotencyStoreContract(() => store, { callers })) it(name, run);
  });
}
