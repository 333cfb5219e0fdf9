import type { LeaseClaim } from '@exactly-once/nestjs';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';

import { RedisServer } from './redis-server.js';
import { describeWithRedis } from './with-redis.js';

function newClaim(): LeaseClaim {
  return {
    id: randomBytes(32),
    scope: null,
    operation: 'POST /',
    key: randomUUID(),
    fingerprint: randomBytes(32),
    owner: randomUUID(),
    lockTtl: 60_000,
    ttl: 60_000,
    takeOverAbandoned: true,
    timeLimit: 5_000,
  };
}

describeWithRedis('a lease or a retention in Redis', () => {
  let redis: RedisServer;
  let store: RedisIdempotencyStore;

  beforeAll(async () => {
    redis = await RedisServer.start();
    store = new RedisIdempotencyStore(redis.url);
    await store.open();
  });
  afterAll(async () => {
    await store.close();
    await redis.stop();
  });

  /** All records, and whether they expire. */
  const records = () =>
    redis.ask(async (client) => {
      const names = (await client.keys('*')).toSorted();
      return Promise.all(
        names.map(async (name) => [await client.hgetall(name), (await client.pttl(name)) > 0]),
      );
    });

  it.each([NaN, -1, Infinity, -Infinity, 2 ** 53, 1e300])(
    'of %d ms is refused, and changes nothing, also not beside others that are right',
    async (milliseconds) => {
      const held = newClaim();
      await store.claim(held);
      const before = await records();
      const response = { status: 201, headers: {}, body: Buffer.alloc(0) };
      const refused = [
        store.claim({ ...newClaim(), lockTtl: milliseconds }),
        store.claim({ ...newClaim(), ttl: milliseconds }),
        store.renew(held, milliseconds),
        store.complete(held, response, milliseconds),
      ];
      for (const one of refused) await expect(one).rejects.toThrow(/cannot last .+ ms/);
      expect(await records()).toEqual(before);

      const [other] = await Promise.allSettled([
        store.claim(newClaim()),
        store.claim({ ...newClaim(), ttl: milliseconds }),
      ]);
      expect(other).toMatchObject({ status: 'fulfilled', value: { type: 'claimed' } });
    },
  );

  it('is rounded up to whole milliseconds', async () => {
    const claim = { ...newClaim(), lockTtl: 1_000.5, ttl: 60_000.01 };
    await store.claim(claim);
    const { createdAt, lockExpiresAt, expiresAt } = (await store.inspect(claim.id, 5_000))!;
    expect(Number(lockExpiresAt) - Number(createdAt)).toBe(1_001);
    expect(Number(expiresAt) - Number(createdAt)).toBe(60_001);
  });
});
