import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { activeResources, libraryTimers, resourcesBeyond, watchTimers } from '../support/active-handles.js';
import { onEachAdapter } from '../support/adapters.js';
import { withClient } from '../support/database-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds within which an app is closed: the ten seconds that it waits, and some more. */
const LIMIT = 20_000;

/** Handles that are here without the app. */
let before: string[];

onEachAdapter((adapter) => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let app: ScriptedApp;

  beforeEach(async () => {
    watchTimers();
    database = await createTestDatabase();
    proxy = await startPostgresProxy(database.url);
    before = activeResources();
    app = await startScriptedApp({
      adapter,
      database,
      dataSource: { url: proxy.url },
      handler: { mode: 'lease', storeTimeout: '300ms' },
    });
  });
  afterEach(async () => {
    await app.close();
    await proxy.close();
    await database.drop();
  });

  /** The database goes away while the handler runs: its client is answered, and its outcome still to be recorded. */
  async function loseDatabase(key: string): Promise<void> {
    const answer = await app.run(
      () => {
        proxy.goDown();
        return 'charged';
      },
      { key },
    );
    expect(answer.text).toBe('charged');
  }

  const recorded = (key: string) =>
    withClient(database.url, async (client) => {
      const { rows } = await client.query(
        `SELECT status, convert_from(body, 'UTF8') AS body FROM idempotency_records WHERE key = $1`,
        [key],
      );
      return rows;
    });

  it('app.close() waits for an outcome that could not be recorded until the database is back', async () => {
    const key = newKey();
    await loseDatabase(key);
    let isClosed = false;
    const closing = app.close().then(() => (isClosed = true));
    await sleep(1_000);
    const early = isClosed;
    proxy.recover();
    await closing;

    expect(early).toBe(false);
    expect(await recorded(key)).toEqual([{ status: 201, body: 'charged' }]);
    expect(libraryTimers()).toEqual([]);
  });

  it('where the database stays away it gives up, and nothing is left that would keep the process', async () => {
    const key = newKey();
    await loseDatabase(key);
    const beginning = performance.now();
    await app.close();
    const duration = performance.now() - beginning;
    await eventually(() => {
      expect(libraryTimers()).toEqual([]);
      expect(resourcesBeyond(before, activeResources())).toEqual([]);
    });

    expect(duration).toBeLessThan(LIMIT);
    expect(app.log.messages('warn').join()).toMatch('still being executed at shutdown');
    expect(await recorded(key)).toEqual([{ status: null, body: null }]);
  }, 60_000);
});
