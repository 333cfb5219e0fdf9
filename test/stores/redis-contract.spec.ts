import { RedisIdempotencyStore } from '@exactly-once/redis';

import { describeRedisContract } from '../contract/redis-contract.js';
import { RedisServer } from '../redis/redis-server.js';

describeRedisContract('Redis, ioredis 5', async () => {
  const server = await RedisServer.start();
  return { servers: [server], store: new RedisIdempotencyStore(server.url) };
});
