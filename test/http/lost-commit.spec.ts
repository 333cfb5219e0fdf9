import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { newKey } from '../support/idempotent-app.js';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

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
      handler: { storeTimeout: '1200ms' },
    });
    // Lets a COMMIT take as long as a row says.
    await app.dataSource.query(`CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.name = 'slow' THEN PERFORM pg_sleep(0.6); END IF; RETURN NULL; END $$`);
    await app.dataSource.query(`CREATE CONSTRAINT TRIGGER take_time AFTER INSERT ON effects
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION take_time()`);
  });
  afterAll(async () => {
    await closeClean(app);
    await proxy.close();
    await database.drop();
  });
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));
  afterEach(() => {
    proxy.recover();
    expect(proxy.isCommitAwaited()).toBe(false);
  });

  const save = (name = 'order') => app.effects.save({ name });

  /** Past the proxy. */
  const effects = () =>
    withClient(database.url, async (client) => (await client.query('SELECT FROM effects')).rowCount);

  it('the answer to COMMIT is lost and it was committed: the client gets its true response', async () => {
    const key = newKey();
    proxy.onCommit('unanswered');
    const first = await app.run(() => save(), { key });
    const second = await app.post({ key });

    expect(first.status).toBe(201);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body.equals(first.body)).toBe(true);
    expect(app.executions()).toBe(1);
    expect(await effects()).toBe(1);
  });

  it('the connection is lost while the server still commits: it is waited for, and the true response sent', async () => {
    const key = newKey();
    proxy.onCommit('cut');
    const first = await app.run(() => save('slow'), { key });
    const second = await app.post({ key });

    expect(first.status).toBe(201);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body.equals(first.body)).toBe(true);
    expect(await effects()).toBe(1);
  });

  it('COMMIT is lost on its way: nothing happened, the client is told so, and a retry executes once', async () => {
    const key = newKey();
    proxy.onCommit('lost');
    const first = await app.run(() => save(), { key });
    const left = await effects();
    const second = await app.post({ key });

    expect(first.status).toBe(503);
    expect(first.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
    expect(first.headers['retry-after']).toBe('1');
    expect(left).toBe(0);
    expect(second.status).toBe(201);
    expect(app.executions()).toBe(2);
    expect(await effects()).toBe(1);
  });

  it('the answer to COMMIT never comes: after storeTimeout the database is asked, and the true response sent', async () => {
    const key = newKey();
    proxy.onCommit('swallowed');
    const first = await app.run(() => save(), { key });
    const second = await app.post({ key });

    expect(first.status).toBe(201);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body.equals(first.body)).toBe(true);
    expect(await effects()).toBe(1);
  });

  it('the database goes away after a COMMIT: the client is told that the outcome is unknown, later the truth', async () => {
    const key = newKey();
    proxy.onCommit('unanswered', () => setTimeout(() => proxy.goDown(), 100));
    // The server is still at work when the proxy goes down.
    const first = await app.run(() => save('slow'), { key });
    const early = await app.post({ key });
    proxy.recover();
    const late = await app.post({ key });

    expect(first.status).toBe(503);
    expect(first.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
    expect(first.headers['retry-after']).toBe('1');
    expect(early.json()).toMatchObject({ code: 'IDEMPOTENCY_STORE_UNAVAILABLE' });
    expect(late.status).toBe(201);
    expect(late.headers['idempotent-replayed']).toBe('true');
    expect(app.executions()).toBe(1);
    expect(await effects()).toBe(1);
  });

  it('the database goes away before a COMMIT reaches it: the outcome is unknown, and a retry executes once', async () => {
    const key = newKey();
    proxy.onCommit('lost', () => proxy.goDown());
    const first = await app.run(() => save(), { key });
    proxy.recover();
    const second = await app.post({ key });

    expect(first.status).toBe(503);
    expect(first.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
    expect(second.status).toBe(201);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(await effects()).toBe(1);
  });

  it('a retry that comes while the server still commits waits its turn, and gets the result', async () => {
    const key = newKey();
    proxy.onCommit('unanswered', () => setTimeout(() => proxy.goDown(), 100));
    const first = app.run(() => save('slow'), { key });
    await sleep(300);
    proxy.recover();
    let retry = await app.post({ key });
    while (retry.status === 409) {
      await sleep(100);
      retry = await app.post({ key });
    }

    expect((await first).status).toBe(201);
    expect(retry.status).toBe(201);
    expect(retry.headers['idempotent-replayed']).toBe('true');
    expect(await effects()).toBe(1);
  });
});
