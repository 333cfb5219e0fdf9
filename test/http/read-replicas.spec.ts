import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { DataSourceOptions, QueryRunner } from 'typeorm';

import { closeClean } from '../support/clean-close.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { newKey } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

async function countOn(runner: QueryRunner): Promise<number> {
  try {
    return (await runner.query('SELECT 1 FROM effects')).length as number;
  } finally {
    await runner.release();
  }
}

onEachAdapterInEachMode((adapter, mode) => {
  /** In the place of a replica that is far behind: it has the tables, and never a row. */
  let replica: TestDatabase;
  let database: TestDatabase;
  let app: ScriptedApp;

  beforeAll(async () => {
    [database, replica] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const onReplica = await startScriptedApp({ adapter, database: replica });
    await onReplica.close();
    const dataSource = {
      url: undefined,
      replication: { master: { url: database.url }, slaves: [{ url: replica.url }] },
    } as Partial<DataSourceOptions>;
    app = await startScriptedApp({ adapter, database, dataSource, handler: { mode } });
  });
  afterAll(async () => {
    await closeClean(app);
    await Promise.all([database.drop(), replica.drop()]);
  });
  beforeEach(() => app.dataSource.query('TRUNCATE effects RESTART IDENTITY'));

  it('keys are claimed, and replays found, on the master', async () => {
    const request = { key: newKey() };
    const first = await app.run(() => app.effects.save({ name: 'saved' }), request);

    expect(first.status).toBe(201);
    expectReplay(await app.post(request), first);
    expect(app.executions()).toBe(1);
  });

  it.each<[string, () => Promise<number>]>([
    ['a repository', () => app.effects.countBy({ name: 'saved' })],
    ['a query builder', () => app.effects.createQueryBuilder('effect').getCount()],
    ['a query runner for replicas', () => countOn(app.dataSource.createQueryRunner('slave'))],
  ])(
    `a handler ${mode === 'transaction' ? 'sees' : 'does not see'} by %s what it has written`,
    async (_, count) => {
      const answer = await app.run(async () => {
        await app.effects.save({ name: 'saved' });
        return { seen: await count() };
      });

      expect(answer.json()).toEqual({ seen: mode === 'transaction' ? 1 : 0 });
    },
  );
});
