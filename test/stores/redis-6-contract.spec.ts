import { RedisIdempotencyStore } from '@exactly-once/redis';
import { Redis } from 'ioredis-6';

import { describeRedisContract } from '../contract/redis-contract.js';
import { RedisServer } from '../redis/redis-server.js';

describeRedisContract('Redis, ioredis 6', async () => {
  const server = await RedisServer.start();
  const client = new Redis(server.port, '127.0.0.1', { lazyConnect: true });
  return { servers: [server], store: new RedisIdempotencyStore(client as never) };
});
