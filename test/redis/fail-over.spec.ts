import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';
import { type PaymentsApp, startPaymentsApp } from '../stores/payments-app.js';
import { WatchedRedis } from './sentinel.js';
import { describeWithRedis } from './with-redis.js';

describeWithRedis('a fail-over by Sentinel', () => {
  let redis: WatchedRedis;
  let app: PaymentsApp;

  beforeEach(async () => {
    redis = await WatchedRedis.start();
  }, 60_000);
  afterEach(async () => {
    await app.close();
    await redis.stop();
  });

  it('requests get 503 while there is no master, none runs unprotected, and what was recorded is there after it', async () => {
    app = await startPaymentsApp('fastify', new RedisIdempotencyStore(redis.connection), {
      storeTimeout: '300ms',
    });
    const before = newKey();
    const first = await app.post(before);
    expect(first.status).toBe(201);
    await eventually(async () => expect(await redis.replica.ask((client) => client.dbsize())).toBe(1));

    await redis.master.kill();
    const refused: string[] = [];
    while (!(await redis.isOver())) {
      const key = newKey();
      const answer = await app.post(key);
      // The last of them may come after the end.
      if (answer.status === 201) break;
      expectProblem(answer, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
      expect(app.executed(key)).toBe(0);
      refused.push(key);
      await sleep(20);
    }
    expect(refused.length).toBeGreaterThan(0);

    const replay = await app.insist(before, 20_000);
    expectReplay(replay, first);
    for (const key of refused) {
      expect((await app.post(key)).status).toBe(201);
      expect(app.executed(key)).toBe(1);
    }
  }, 60_000);

  it('a master that comes back as a replica is asked for nothing', async () => {
    app = await startPaymentsApp('fastify', new RedisIdempotencyStore(redis.connection), {
      storeTimeout: '300ms',
    });
    await redis.master.kill();
    await eventually(async () => expect(await redis.isOver()).toBe(true), 20_000);
    await redis.master.launch();
    await app.insist(undefined, 20_000);
    const keys = Array.from({ length: 50 }, newKey);
    for (const key of keys) expect((await app.post(key)).status).toBe(201);
    for (const key of keys) expect((await app.post(key)).headers['idempotent-replayed']).toBe('true');
  }, 60_000);
});
