import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource, Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

type Change = (effects: Repository<Effect>, dataSource: DataSource) => Promise<unknown>;

/** Each changes the one row that is there, and reads what it changed. */
const CHANGES: Record<string, Change> = {
  'an update query builder': (effects) =>
    effects.createQueryBuilder().update().set({ name: 'new' }).execute(),
  'update() of a repository': (effects) => effects.update({ id: 1_000 }, { name: 'new' }),
  'a delete query builder': (effects) => effects.createQueryBuilder().delete().where('id = 1000').execute(),
  'remove() of a repository': async (effects) => effects.remove(await effects.findOneByOrFail({ id: 1_000 })),
  'a row that was read with a lock': async (effects) => {
    const row = await effects.findOneOrFail({ where: { id: 1_000 }, lock: { mode: 'pessimistic_write' } });
    return effects.save({ ...row, name: 'new' });
  },
  'a query builder with a lock': async (effects) => {
    const row = await effects.createQueryBuilder('effect').setLock('pessimistic_write').getOneOrFail();
    return effects.save({ ...row, name: 'new' });
  },
  'TRUNCATE by clear()': (effects) => effects.clear(),
};

const original = [{ id: 1_000, name: 'old' }];

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter });
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    await app.effects.clear();
    await app.dataSource.query(`INSERT INTO effects VALUES (1000, 'old')`);
  });

  describe.each(Object.entries(CHANGES))('%s', (_, change) => {
    it('takes part: it is undone when the handler fails later, and done when it succeeds', async () => {
      const key = newKey();
      const failed = await app.run(
        async () => {
          await change(app.effects, app.dataSource);
          expect(await app.effects.find()).not.toEqual(original);
          throw new Error('out of luck');
        },
        { key },
      );
      const left = await app.effects.find();
      const retried = await app.run(() => change(app.effects, app.dataSource).then(() => 'done'), { key });

      expect(failed.status).toBe(500);
      expect(app.log.messages('error').at(-1)).toMatch('out of luck');
      expect(left).toEqual(original);
      expect(retried.status).toBe(201);
      expect(await app.effects.find()).not.toEqual(original);
    });
  });

  it('a row that a handler has read with a lock stays locked until the request commits', async () => {
    const isLocked = (): Promise<boolean> =>
      withClient(app.database.url, async (client) => {
        const { rowCount } = await client.query('SELECT FROM effects WHERE id = 1000 FOR UPDATE SKIP LOCKED');
        return rowCount === 0;
      });
    const answer = await app.run(async () => {
      await app.effects.findOneOrFail({ where: { id: 1_000 }, lock: { mode: 'pessimistic_write' } });
      await app.dataSource.transaction((manager) => manager.findBy(Effect, {}));
      return { isLocked: await isLocked() };
    });

    expect(answer.json()).toEqual({ isLocked: true });
    expect(await isLocked()).toBe(false);
  });

  it('what a handler has written is seen by its own reads and by nobody else before the end', async () => {
    const answer = await app.run(async () => {
      await app.effects.save({ name: 'mine' });
      const [own] = await app.dataSource.query(`SELECT count(*)::int FROM effects`);
      const others = await withClient(app.database.url, (client) =>
        client.query('SELECT count(*)::int FROM effects'),
      );
      return { own: own.count, others: others.rows[0].count };
    });

    expect(answer.json()).toEqual({ own: 2, others: 1 });
    expect(await app.effects.count()).toBe(2);
  });
});
