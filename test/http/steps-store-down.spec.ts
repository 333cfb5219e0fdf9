import { IdempotencyLeaseLostError } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { recordedSteps } from '../support/lapsed-lease.js';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.js';
import { expectProblem } from '../support/problem.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds. */
const LOCK_TTL = 1_500;

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let calls: string[];

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startPostgresProxy(database.url);
    const handler = { mode: 'lease', onAbandoned: 'retry', lockTtl: LOCK_TTL, storeTimeout: '1s' } as const;
    app = await startScriptedApp({ adapter, database, handler, dataSource: { url: proxy.url } });
  });
  afterAll(async () => {
    await closeClean(app);
    await proxy.close();
    await database.drop();
  });
  beforeEach(async () => {
    calls = [];
    await Promise.all([app.effects.clear(), app.records.clear()]);
  });
  afterEach(() => proxy.recover());

  const call = (name: string) => {
    calls.push(name);
    return name;
  };

  it('a step whose result cannot be recorded at once is recorded when the database is back in time', async () => {
    const key = newKey();
    const answer = await app.run(
      ({ context }) =>
        context.step('charge', () => {
          proxy.goDown();
          setTimeout(() => proxy.recover(), 300);
          return call('charge');
        }),
      { key },
    );

    expect(answer.status).toBe(201);
    expect(answer.text).toBe('charge');
    expect(await recordedSteps(app, key)).toEqual({ charge: { result: 'charge' } });
  });

  it.each(['step', 'transactionalStep'] as const)(
    'a %s() that cannot be recorded in time ends the attempt without an outcome, and a retry resumes it',
    async (kind) => {
      const key = newKey();
      let error: unknown;
      const pay: Script = async ({ context }) => {
        await context.step('reserve', () => call('reserve'));
        const charging = context[kind]('charge', () => {
          if (context.attempt === 1) proxy.goDown();
          return call('charge');
        });
        await charging.catch((cause: unknown) => {
          error = cause;
          throw cause;
        });
        return call(`done by ${context.attempt}`);
      };
      const first = await app.run(pay, { key });
      proxy.recover();
      const retried = await eventually(async () => {
        const answer = await app.post({ key });
        expect(answer.status).toBe(201);
        return answer;
      });

      expectProblem(first, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
      expect(first.headers['retry-after']).toBe('1');
      expect(error).toBeInstanceOf(IdempotencyLeaseLostError);
      expect(retried.text).toBe('done by 2');
      expect(calls).toEqual(['reserve', 'charge', 'charge', 'done by 2']);
    },
  );
});
