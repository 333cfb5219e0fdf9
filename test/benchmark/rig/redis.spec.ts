import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { RedisServer } from '../../redis/redis-server.js';
import { describeWithRedis } from '../../redis/with-redis.js';
import { RedisDatabase } from './redis.js';

describeWithRedis('variants that use one Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('neither count nor clear the keys of each other', async () => {
    const ours = RedisDatabase.of('lease-redis', server)!;
    const theirs = RedisDatabase.of('node-idempotency', server)!;
    await write(ours, 'a', 'b');
    await write(theirs, 'a', 'b', 'c');

    expect([await ours.count(), await theirs.count()]).toEqual([2, 3]);
    await ours.clear();
    expect([await ours.count(), await theirs.count()]).toEqual([0, 3]);
  });
});

/** As a server of the variant does: by the URL that it is given. */
async function write({ url }: RedisDatabase, ...keys: string[]): Promise<void> {
  const client = new Redis(url);
  for (const key of keys) await client.set(key, 'value');
  await client.quit();
}
