import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { withClient } from '../support/database-client.js';
import { eventually } from '../support/eventually.js';
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
      handler: { mode: 'lease', storeTimeout: '1s', lockTtl: '2s' },
    });
    await app.dataSource.query(`CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END $$`);
    await app.dataSource.query(`CREATE TRIGGER take_time BEFORE INSERT ON idempotency_records
      FOR EACH ROW WHEN (NEW.key LIKE 'slow-%') EXECUTE FUNCTION take_time()`);
  });
  afterAll(async () => {
    await closeClean(app);
    await proxy.close();
    await database.drop();
  });
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));
  afterEach(() => proxy.recover());

  const claims = () =>
    withClient(
      database.url,
      async (client) => (await client.query('SELECT FROM idempotency_records')).rowCount,
    );

  const claimsUnderWay = () =>
    withClient(database.url, async (client) => {
      const { rowCount } = await client.query(`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`);
      return rowCount;
    });

  /** The server commits the claim, and the app never hears of it. */
  async function loseClaim(key: string, downFor: number) {
    const answer = app.run(() => app.effects.save({ name: 'order' }), { key });
    await eventually(async () => expect(await claimsUnderWay()).toBe(1));
    proxy.goDown();
    await sleep(downFor);
    const claimed = await claims();
    proxy.recover();
    return { answer: await answer, claimed };
  }

  /** Retries as a client does, as long as it is told that somebody is at it, once the claim is given back. */
  async function retry(key: string) {
    await eventually(async () => expect(await claims()).toBe(0));
    let answer = await app.post({ key });
    while (answer.headers['retry-after']) {
      await sleep(300);
      answer = await app.post({ key });
    }
    return answer;
  }

  it('a claim that was committed and whose answer was lost does not block the key', async () => {
    const key = `slow-${newKey()}`;
    const { answer, claimed } = await loseClaim(key, 600);
    const retried = await retry(key);

    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_STORE_UNAVAILABLE' });
    expect(claimed).toBe(1);
    expect(retried.status).toBe(201);
    expect(await app.effects.count()).toBe(1);
  });

  it('nor does it when the database stays away for longer than one step may take', async () => {
    const key = `slow-${newKey()}`;
    const { answer, claimed } = await loseClaim(key, 1_800);
    await sleep(800);
    const retried = await retry(key);

    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_STORE_UNAVAILABLE' });
    expect(claimed).toBe(1);
    expect(retried.status).toBe(201);
    expect(await app.effects.count()).toBe(1);
  });
});
