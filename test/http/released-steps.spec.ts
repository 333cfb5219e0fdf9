import { IdempotencyService, nothingDone } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { abandon } from '../support/abandoned-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { newKey } from '../support/idempotent-app.js';
import { recordedSteps } from '../support/lapsed-lease.js';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.js';
import { expectProblem } from '../support/problem.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

/** A handler whose second step fails when it is run for the first time. */
function failingOnce(app: ScriptedApp, fail: Script): { script: Script; charges: () => number } {
  let charges = 0;
  let hasFailed = false;
  const script: Script = async (input) => {
    const charge = await input.context.step('charge', () => `charge ${++charges}`);
    await input.context.transactionalStep('reserve', () => app.effects.insert({ name: 'reservation' }));
    if (!hasFailed) {
      hasFailed = true;
      await fail(input);
    }
    return { charge, attempt: input.context.attempt };
  };
  return { script, charges: () => charges };
}

const unexpected = () => new Error('the connection to the gateway was reset');
const ends: Record<string, Script> = {
  'an error that storeIf refuses': () => {
    throw unexpected();
  },
  'nothingDone()': () => {
    throw nothingDone(unexpected());
  },
  'release()': ({ context }) => {
    context.release();
    throw unexpected();
  },
};

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let database: TestDatabase;
  let proxy: PostgresProxy;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startPostgresProxy(database.url);
    app = await startScriptedApp({
      adapter,
      database,
      dataSource: { url: proxy.url },
      // Also where nobody may take an abandoned attempt over: this one was given up by its own handler.
      handler: {
        mode: 'lease',
        onAbandoned: 'fail',
        storeIf: ({ status }) => status < 500,
        storeTimeout: '1s',
      },
    });
  });
  afterAll(async () => {
    await closeClean(app);
    await proxy.close();
    await database.drop();
  });
  beforeEach(() => app.effects.clear());
  afterEach(() => proxy.recover());

  const find = (key: string) =>
    app.app.get(IdempotencyService).find({ scope: 'nobody', operation: 'POST /', key });

  it.each(Object.entries(ends))('after %s a retry goes on behind the recorded steps', async (_, fail) => {
    const { script, charges } = failingOnce(app, fail);
    const key = newKey();
    const failed = await app.run(script, { key });
    const record = await find(key);
    const retried = await app.post({ key });
    const replayed = await app.post({ key });

    expect(failed.status).toBe(500);
    expect(record).toMatchObject({ state: 'released', attempt: 1, completedAt: null });
    expect(retried.status).toBe(201);
    expect(retried.json()).toEqual({ charge: 'charge 1', attempt: 2 });
    expect(replayed.text).toBe(retried.text);
    expect(app.executions()).toBe(2);
    expect(charges()).toBe(1);
    expect(await app.effects.count()).toBe(1);
  });

  it('another payload under the key is refused, since a part of the first one has happened', async () => {
    const { script } = failingOnce(app, ends['release()']!);
    const key = newKey();
    await app.run(script, { key, body: { amount: 1 } });
    const other = await app.post({ key, body: { amount: 2 } });
    const retried = await app.post({ key, body: { amount: 1 } });

    expectProblem(other, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(retried.status).toBe(201);
    expect(app.executions()).toBe(2);
  });

  it('of many retries at once one goes on', async () => {
    const { script, charges } = failingOnce(app, ends['release()']!);
    const key = newKey();
    await app.run(script, { key });
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.post({ key })));

    expect(app.executions()).toBe(2);
    expect(charges()).toBe(1);
    const statuses = new Set(answers.map(({ status }) => status));
    expect(statuses).toContain(201);
    expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([]);
  });

  it('a retry that dies in its turn is an abandoned attempt like any other', async () => {
    const { script } = failingOnce(app, ends['release()']!);
    const key = newKey();
    await app.run(script, { key });
    const attempt = await abandon(
      app,
      async ({ context }, die) => {
        await context.step('charge', () => 'never run');
        await die();
        return 'late';
      },
      key,
    );
    const refused = await app.post({ key });
    const late = await attempt.revive();

    expectProblem(refused, 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    expect(late.text).toBe('late');
  });

  it('an operator frees it with its steps', async () => {
    const { script, charges } = failingOnce(app, ends['release()']!);
    const key = newKey();
    await app.run(script, { key });
    await app.app.get(IdempotencyService).release({ scope: 'nobody', operation: 'POST /', key }, 'carol');
    const anew = await app.post({ key });

    expect(anew.json()).toEqual({ charge: 'charge 2', attempt: 1 });
    expect(charges()).toBe(2);
  });

  it('a claim whose answer is lost leaves the steps of the attempt that it took over', async () => {
    const { script, charges } = failingOnce(app, ends['release()']!);
    const key = newKey();
    await app.run(script, { key });
    await app.dataSource.query(`CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END $$`);
    await app.dataSource.query(`CREATE TRIGGER take_time BEFORE UPDATE OF attempt ON idempotency_records
      FOR EACH ROW EXECUTE FUNCTION take_time()`);
    const unheard = app.post({ key });
    await sleep(200);
    proxy.goDown();
    await sleep(600);
    proxy.recover();
    expectProblem(await unheard, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
    let retried = await app.post({ key });
    while (retried.headers['retry-after']) {
      await sleep(300);
      retried = await app.post({ key });
    }

    expect(retried.json()).toEqual({ charge: 'charge 1', attempt: 3 });
    expect(charges()).toBe(1);
    expect(await app.effects.count()).toBe(1);
    expect(await recordedSteps(app, key)).toMatchObject({ charge: { result: 'charge 1' } });
  });
});
