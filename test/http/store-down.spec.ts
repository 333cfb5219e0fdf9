import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import type { HttpResponse } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds; the answers below must come within a few times as much, and not after a time-out of the network. */
const STORE_TIMEOUT = 1_000;

function expectUnavailable(answer: HttpResponse) {
  expect(answer.status).toBe(503);
  expect(answer.headers['content-type']).toMatch('application/problem+json');
  expect(answer.headers['retry-after']).toBe('2');
  expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_STORE_UNAVAILABLE' });
}

async function within(milliseconds: number, requests: Promise<HttpResponse>[]) {
  const begun = Date.now();
  const answers = await Promise.all(requests);
  expect(Date.now() - begun).toBeLessThan(milliseconds);
  return answers;
}

function allowConnections({ name, url }: TestDatabase, allowed: boolean) {
  const server = url.replace(/\/[^/]*$/, '/postgres');
  return withClient(server, (client) =>
    client.query(
      `ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${allowed};
       SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    ),
  );
}

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    let app: ScriptedApp;
    let database: TestDatabase;
    let proxy: PostgresProxy;

    beforeAll(async () => {
      database = await createTestDatabase();
      proxy = await startPostgresProxy(database.url);
      app = await startScriptedApp({
        adapter,
        database,
        dataSource: { url: proxy.url, poolSize: 3 },
        handler: { mode, storeTimeout: STORE_TIMEOUT, retryAfter: '2s' },
      });
      app.handle(() => app.effects.save({ name: 'order' }));
    });
    afterAll(async () => {
      await closeClean(app);
      await proxy.close();
      await database.drop();
    });
    beforeEach(async () => {
      await Promise.all([app.effects.clear(), app.records.clear()]);
      app.handle(() => app.effects.save({ name: 'order' }));
    });
    afterEach(() => proxy.recover());

    it('C26: a database that cannot be reached: refused in time, nothing executed, and a retry executes', async () => {
      const key = newKey();
      proxy.goDown();
      const [refused] = await within(4 * STORE_TIMEOUT, [app.post({ key })]);
      const executedMeanwhile = app.executions();
      proxy.recover();
      const retried = await app.post({ key });

      expectUnavailable(refused!);
      expect(app.log.messages('error').join()).toMatch('could not claim a key');
      expect(executedMeanwhile).toBe(0);
      expect(retried.status).toBe(201);
      expect(await app.effects.count()).toBe(1);
    });

    it('C26: a database that accepts and never answers: refused in time, nothing executed', async () => {
      const key = newKey();
      proxy.goSilent();
      const [refused] = await within(4 * STORE_TIMEOUT, [app.post({ key })]);
      const executedMeanwhile = app.executions();
      proxy.recover();
      const retried = await app.post({ key });

      expectUnavailable(refused!);
      expect(executedMeanwhile).toBe(0);
      expect(retried.status).toBe(201);
      expect(await app.effects.count()).toBe(1);
    });

    it('C26: more requests than connections meet a silent database: none hangs, and the pool recovers', async () => {
      proxy.goSilent();
      const refused = await within(
        8 * STORE_TIMEOUT,
        Array.from({ length: 8 }, () => app.post()),
      );
      proxy.recover();
      const retried = await Promise.all(Array.from({ length: 8 }, () => app.post()));

      refused.forEach(expectUnavailable);
      expect(retried.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
      expect(app.executions()).toBe(8);
    });

    it('C26: a server that refuses new sessions: refused in time, nothing executed', async () => {
      const key = newKey();
      await allowConnections(database, false);
      const [refused] = await within(4 * STORE_TIMEOUT, [app.post({ key })]);
      const executedMeanwhile = app.executions();
      await allowConnections(database, true);
      const retried = await app.post({ key });

      expectUnavailable(refused!);
      expect(executedMeanwhile).toBe(0);
      expect(retried.status).toBe(201);
    });

    it('C26: a table that is locked by somebody else: refused in time, nothing executed', async () => {
      const [refused] = await withClient(database.url, async (client) => {
        await client.query('BEGIN; LOCK TABLE idempotency_records IN ACCESS EXCLUSIVE MODE');
        const answers = await within(4 * STORE_TIMEOUT, [app.post()]);
        await client.query('ROLLBACK');
        return answers;
      });

      expectUnavailable(refused!);
      expect(app.executions()).toBe(0);
    });
  });
});
