import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { newKey } from '../support/idempotent-app.js';
import { type ScriptedApp, startScriptedApp } from '../support/scripted-app.js';

const POOL_SIZE = 2;

/** Milliseconds of a lease. */
const LOCK_TTL = 1_500;

onEachAdapter((adapter) => {
  let database: TestDatabase;
  let app: ScriptedApp;
  /** With a pool of its own. */
  let other: ScriptedApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    const start = () =>
      startScriptedApp({
        adapter,
        database,
        dataSource: { poolSize: POOL_SIZE },
        handler: { mode: 'lease', lockTtl: LOCK_TTL, onAbandoned: 'retry' },
      });
    app = await start();
    other = await start();
  });
  afterAll(async () => {
    await closeClean(app);
    await closeClean(other);
    await database.drop();
  });
  beforeEach(() => app.effects.clear());

  it('handlers that hold all connections of the pool for longer than their leases keep them', async () => {
    const keys = Array.from({ length: POOL_SIZE }, newKey);
    app.handle(() =>
      app.dataSource.transaction(async (manager) => {
        await manager.save(app.effects.create({ name: 'saved' }));
        await sleep(3 * LOCK_TTL);
      }),
    );
    const running = Promise.all(keys.map((key) => app.post({ key })));
    await sleep(2 * LOCK_TTL);
    const retries = await Promise.all(keys.map((key) => other.post({ key })));

    expect(retries.map((retry) => retry.json().code)).toEqual(keys.map(() => 'IDEMPOTENCY_KEY_IN_USE'));
    expect((await running).map(({ status }) => status)).toEqual(keys.map(() => 201));
    expect(await app.effects.count()).toBe(POOL_SIZE);
  });

  it('handlers that hold them record their steps', async () => {
    app.handle(({ context }) =>
      app.dataSource.transaction(async () => {
        await sleep(LOCK_TTL / 3);
        return context.step('charge', () => 'charged');
      }),
    );
    const answers = await Promise.all(Array.from({ length: POOL_SIZE }, () => app.post()));

    expect(answers.map(({ text }) => text)).toEqual(answers.map(() => 'charged'));
  });

  it('without such handlers there is no connection beside the pool', async () => {
    await app.run(() => sleep(2 * LOCK_TTL));
    const connections = await other.dataSource.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database()`,
    );

    expect(connections.length).toBeLessThanOrEqual(2 * POOL_SIZE);
  });
});
