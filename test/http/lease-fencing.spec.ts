import { nothingDone } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { CapturedLog } from '../support/captured-log.js';
import { closeClean } from '../support/clean-close.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { newKey } from '../support/idempotent-app.js';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds. */
const LOCK_TTL = 500;

onEachAdapter((adapter) => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  /** Two processes of one application; the first one's network can fail. */
  let first: ScriptedApp;
  let second: ScriptedApp;
  const logger = new CapturedLog();

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startPostgresProxy(database.url);
    const handler = { mode: 'lease', lockTtl: LOCK_TTL, onAbandoned: 'retry', storeTimeout: '2s' } as const;
    first = await startScriptedApp({ adapter, database, handler, logger, dataSource: { url: proxy.url } });
    second = await startScriptedApp({ adapter, database, handler, logger });
  });
  afterAll(async () => {
    await closeClean(second);
    await first.close();
    await proxy.close();
    await database.drop();
  });
  beforeEach(async () => {
    await Promise.all([second.effects.clear(), second.records.clear()]);
    logger.clear();
  });
  afterEach(() => proxy.recover());

  const record = async (key: string) => second.records.findOneByOrFail({ key });

  it('C30: a handler three times longer than its lease keeps it, and duplicates are told to wait', async () => {
    const key = newKey();
    second.handle(() => 'taken over');
    const running = first.run(
      async () => {
        await sleep(3 * LOCK_TTL);
        return first.effects.save({ name: 'order' });
      },
      { key },
    );
    const duplicates: number[] = [];
    for (let waited = 0; waited < 3 * LOCK_TTL - 300; waited += 200) {
      await sleep(200);
      duplicates.push((await second.post({ key })).status);
    }
    const answer = await running;
    const replayed = await second.post({ key });

    expect(new Set(duplicates)).toEqual(new Set([409]));
    expect(answer.status).toBe(201);
    expect(replayed.body.equals(answer.body)).toBe(true);
    expect(second.executions()).toBe(0);
    expect(await record(key)).toMatchObject({ attempt: 1 });
    expect(await second.effects.count()).toBe(1);
  });

  /** The first process is cut off in the middle of its handler, until another one has taken the key over. */
  async function loseLease(key: string, firstHandler: () => unknown, takeOver: () => Promise<unknown>) {
    let resume!: () => void;
    const cutOff = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const stale = first.run(
      async () => {
        await cutOff;
        return firstHandler();
      },
      { key },
    );
    await sleep(200);
    proxy.goDown();
    await sleep(LOCK_TTL + 200);
    await takeOver();
    proxy.recover();
    resume();
    return stale;
  }

  it('C31: an abandoned attempt is taken over, and who comes late gets the recorded result, never its own', async () => {
    const key = newKey();
    let takenOver!: Awaited<ReturnType<typeof second.run>>;
    const stale = await loseLease(
      key,
      () => ({ by: 'the first' }),
      async () => {
        takenOver = await second.run(({ context }) => ({ by: 'the second', attempt: context.attempt }), {
          key,
        });
      },
    );
    const later = await first.post({ key });

    expect(takenOver.status).toBe(201);
    expect(takenOver.json()).toEqual({ by: 'the second', attempt: 2 });
    expect(stale.status).toBe(201);
    expect(stale.body.equals(takenOver.body)).toBe(true);
    expect(stale.headers['idempotent-replayed']).toBe('true');
    expect(logger.messages('warn').join()).toMatch(/finished without its lease.*its result is discarded/);
    expect(later.body.equals(takenOver.body)).toBe(true);
    expect(await record(key)).toMatchObject({ attempt: 2 });
  });

  it('C31: who comes late while the new owner still runs is told that the outcome is unknown', async () => {
    const key = newKey();
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let takingOver!: ReturnType<typeof second.run>;
    const stale = await loseLease(
      key,
      () => ({ by: 'the first' }),
      async () => {
        takingOver = second.run(() => finished.then(() => ({ by: 'the second' })), { key });
        await sleep(200);
      },
    );
    finish();
    const takenOver = await takingOver;

    expect(stale.status).toBe(503);
    expect(stale.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
    expect(takenOver.json()).toEqual({ by: 'the second' });
    expect((await second.post({ key })).body.equals(takenOver.body)).toBe(true);
  });

  it('C32: a stale owner that releases or renews does not touch what the new owner has', async () => {
    const key = newKey();
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let takingOver!: ReturnType<typeof second.run>;
    let owner = '';
    const stale = await loseLease(
      key,
      async () => {
        // Long enough for renewals of the first process, which must not count any more.
        await sleep(LOCK_TTL);
        throw nothingDone(new Error('nothing was done here'));
      },
      async () => {
        takingOver = second.run(() => finished.then(() => ({ by: 'the second' })), { key });
        await sleep(200);
        ({ owner } = await record(key));
      },
    );
    const afterwards = await record(key);
    finish();
    const takenOver = await takingOver;

    expect(stale.status).toBe(500);
    expect(afterwards.owner).toBe(owner);
    expect(takenOver.json()).toEqual({ by: 'the second' });
    expect((await second.post({ key })).headers['idempotent-replayed']).toBe('true');
    expect(logger.messages('warn').join()).toMatch('A lease was lost while its handler runs');
  });

  it('a stale owner whose lease has lapsed and whom nobody has followed still records its result', async () => {
    const key = newKey();
    const stale = await loseLease(
      key,
      () => first.effects.save({ name: 'order' }),
      async () => undefined,
    );
    const replayed = await second.post({ key });

    expect(stale.status).toBe(201);
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    expect(replayed.body.equals(stale.body)).toBe(true);
    expect(await record(key)).toMatchObject({ attempt: 1 });
  });

  it('of twenty requests that find an abandoned attempt one takes it over', async () => {
    const key = newKey();
    await second.run(() => 'of a process that is dead now', { key });
    await second.dataSource.query(
      `UPDATE idempotency_records SET completed_at = NULL, lock_expires_at = now() WHERE key = $1`,
      [key],
    );
    second.handle(async () => {
      await sleep(50);
      return second.effects.save({ name: 'order' });
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => second.post({ key })));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect(second.executions()).toBe(1);
    expect(await second.effects.count()).toBe(1);
  });
});
