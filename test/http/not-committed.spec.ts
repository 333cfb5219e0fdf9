import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import type { HttpResponse } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const swallow = (work: Promise<unknown>) => work.catch(() => undefined);

function expectNotCommitted(answer: HttpResponse, status: 500 | 503) {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toMatch('application/problem+json');
  expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED', status });
  expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
}

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter });
    await app.dataSource.query('CREATE UNIQUE INDEX unique_name ON effects (name)');
    await app.dataSource.query(
      `CREATE TABLE debts (effect_id integer REFERENCES effects DEFERRABLE INITIALLY DEFERRED,
         amount integer CONSTRAINT amounts_differ UNIQUE DEFERRABLE INITIALLY DEFERRED)`,
    );
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    await app.dataSource.query('TRUNCATE effects, debts, idempotency_records');
    app.log.clear();
  });

  const save = (name: string) => app.effects.save({ name });
  const names = async () => (await app.effects.find({ order: { id: 'ASC' } })).map(({ name }) => name);
  const loggedErrors = () => JSON.stringify(app.log.lines.filter(({ level }) => level === 'error'));

  it('a unique violation that the handler swallows prevents the commit; the log names it and the key is free', async () => {
    await save('taken');
    const key = newKey();
    const failed = await app.run(
      async () => {
        await save('first');
        await swallow(save('taken'));
        return 'all is well';
      },
      { key },
    );
    const left = [await names(), await app.records.count()];
    const retried = await app.run(() => save('retried'), { key });

    expectNotCommitted(failed, 500);
    expect(loggedErrors()).toMatch('duplicate key value violates unique constraint');
    expect(loggedErrors()).toMatch('unique_name');
    expect(left).toEqual([['taken'], 0]);
    expect(retried.status).toBe(201);
  });

  it('the log names the error that began it, not those that follow from it', async () => {
    await save('taken');
    const failed = await app.run(async () => {
      await swallow(save('taken'));
      await swallow(save('another'));
      await swallow(app.effects.find());
    });

    expectNotCommitted(failed, 500);
    expect(loggedErrors()).toMatch('duplicate key value violates unique constraint');
  });

  it('an error that a nested transaction has undone is not the one that is named', async () => {
    await save('taken');
    const failed = await app.run(async () => {
      await swallow(app.dataSource.transaction((manager) => manager.save(Effect, { name: 'taken' })));
      await swallow(app.dataSource.query('SELECT 1 / 0'));
    });

    expectNotCommitted(failed, 500);
    expect(loggedErrors()).toMatch('division by zero');
    expect(loggedErrors()).not.toMatch('duplicate key');
  });

  it('the same unique violation inside dataSource.transaction() can be swallowed', async () => {
    await save('taken');
    const answer = await app.run(async () => {
      await save('first');
      await swallow(app.dataSource.transaction((manager) => manager.save(Effect, { name: 'taken' })));
      await save('second');
      return 'all is well';
    });

    expect(answer.text).toBe('all is well');
    expect(await names()).toEqual(['taken', 'first', 'second']);
  });

  it.each([
    ['a foreign key', 'INSERT INTO debts (effect_id) VALUES (-1)', 'debts_effect_id_fkey'],
    ['a unique key', 'INSERT INTO debts (amount) VALUES (1), (1)', 'amounts_differ'],
  ])('%s that is checked at the end prevents the commit, and the key is free', async (_, sql, constraint) => {
    const key = newKey();
    const failed = await app.run(
      async () => {
        await save('first');
        await app.dataSource.query(sql);
        return 'all is well';
      },
      { key },
    );
    const left = [await names(), await app.records.count()];
    const retried = await app.run(() => save('retried'), { key });

    expectNotCommitted(failed, 500);
    expect(loggedErrors()).toMatch(constraint);
    expect(left).toEqual([[], 0]);
    expect(retried.status).toBe(201);
  });

  it('a deadlock that the handler swallows may be retried', async () => {
    await app.dataSource.query(`INSERT INTO effects VALUES (1000, 'a'), (2000, 'b')`);
    const lock = (id: number) => app.dataSource.query('SELECT FROM effects WHERE id = $1 FOR UPDATE', [id]);
    const other = new Client({ connectionString: app.database.url });
    await other.connect();
    const key = newKey();
    const failed = await app.run(
      async () => {
        await lock(1000);
        await other.query('BEGIN; SELECT FROM effects WHERE id = 2000 FOR UPDATE');
        const waiting = other.query('SELECT FROM effects WHERE id = 1000 FOR UPDATE; COMMIT');
        // Whoever comes last looks for the deadlock last, and is the one to give up.
        await app.dataSource.query('SELECT pg_sleep(1.2)');
        await swallow(lock(2000));
        await swallow(waiting);
      },
      { key },
    );
    await other.end();
    const retried = await app.run(() => save('retried'), { key });

    expectNotCommitted(failed, 503);
    expect(loggedErrors()).toMatch('deadlock detected');
    expect(retried.status).toBe(201);
  });

  describe('with isolation SERIALIZABLE', () => {
    let serializable: ScriptedApp;

    beforeAll(async () => {
      const { database } = app;
      const dataSource = { synchronize: false };
      serializable = await startScriptedApp({
        adapter,
        database,
        dataSource,
        handler: { isolation: 'SERIALIZABLE' },
      });
    });
    afterAll(() => closeClean(serializable));

    /** Two transactions that read what the other one writes; the other one commits first. */
    async function writeSkew(when: 'before the write' | 'after the write'): Promise<void> {
      const other = new Client({ connectionString: app.database.url });
      await other.connect();
      await serializable.effects.count();
      await other.query('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM effects');
      const write = `INSERT INTO effects (name) VALUES ('other'); COMMIT`;
      try {
        if (when === 'before the write') await other.query(write);
        await serializable.effects.save({ name: 'mine' });
        if (when === 'after the write') await other.query(write);
      } finally {
        await other.end();
      }
    }

    it('a serialization failure at the end may be retried, and nothing happened', async () => {
      const key = newKey();
      const failed = await serializable.run(() => writeSkew('after the write'), { key });
      const left = [await names(), await app.records.count()];
      const retried = await serializable.run(() => serializable.effects.save({ name: 'retried' }), { key });

      expectNotCommitted(failed, 503);
      expect(left).toEqual([['other'], 0]);
      expect(retried.status).toBe(201);
    });

    it.each(['swallows', 'throws'])(
      'a serialization failure that the handler %s may be retried',
      async (does) => {
        const key = newKey();
        const failed = await serializable.run(
          () => (does === 'throws' ? writeSkew('before the write') : swallow(writeSkew('before the write'))),
          { key },
        );
        const left = [await names(), await app.records.count()];
        const retried = await serializable.run(() => serializable.effects.save({ name: 'retried' }), { key });

        expectNotCommitted(failed, 503);
        expect(left).toEqual([['other'], 0]);
        expect(retried.status).toBe(201);
      },
    );
  });
});
