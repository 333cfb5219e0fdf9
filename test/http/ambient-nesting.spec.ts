import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const fail = (): never => {
  throw new Error('out of luck');
};

const caught = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    () => 'failed',
  );

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { transactionTimeout: '10s' } });
    await app.dataSource.query('CREATE UNIQUE INDEX unique_name ON effects (name)');
  });
  afterAll(() => closeClean(app));
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  const transaction = (work: (manager: EntityManager) => Promise<unknown>) =>
    app.dataSource.transaction(work);
  const save = (name: string, manager = app.dataSource.manager) => manager.save(Effect, { name });
  const names = async () => (await app.effects.find({ order: { name: 'ASC' } })).map(({ name }) => name);

  it('a nested transaction that fails and is caught takes only its own rows with it', async () => {
    const answer = await app.run(async () => {
      await save('before');
      const outcome = await caught(transaction((manager) => save('inside', manager).then(fail)));
      await save('after');
      return outcome;
    });

    expect(answer.text).toBe('failed');
    expect(await names()).toEqual(['after', 'before']);
    expect(await app.records.count()).toBe(1);
  });

  it('repositories used inside a nested transaction that fails are undone with it', async () => {
    await app.run(async () => {
      await caught(transaction(() => save('inside').then(fail)));
      await save('after');
    });

    expect(await names()).toEqual(['after']);
  });

  it('two levels down, each level can be undone alone', async () => {
    const answer = await app.run(() =>
      transaction(async (outer) => {
        await save('outer', outer);
        const first = await caught(outer.transaction((inner) => save('inner 1', inner).then(fail)));
        const second = await caught(outer.transaction((inner) => save('inner 2', inner)));
        return [first, second];
      }),
    );

    expect(answer.json()).toEqual(['failed', 'done']);
    expect(await names()).toEqual(['inner 2', 'outer']);
  });

  it('what an inner transaction has finished is undone with the outer one', async () => {
    await app.run(async () => {
      await caught(
        transaction(async (outer) => {
          await outer.transaction((inner) => save('inner', inner));
          await transaction((inner) => save('inner, by the DataSource', inner));
          fail();
        }),
      );
      await save('after');
    });

    expect(await names()).toEqual(['after']);
  });

  it('a nested transaction that has succeeded is undone when the handler fails later', async () => {
    const key = newKey();
    const failed = await app.run(() => transaction((manager) => save('inside', manager)).then(fail), { key });
    const left = [await names(), await app.records.count()];
    const retried = await app.run(() => transaction((manager) => save('inside', manager)), { key });

    expect(failed.status).toBe(500);
    expect(left).toEqual([[], 0]);
    expect(retried.status).toBe(201);
    expect(await names()).toEqual(['inside']);
  });

  it('a unique violation inside a nested transaction can be caught, and the handler goes on', async () => {
    await save('taken');
    const answer = await app.run(async () => {
      const outcome = await caught(transaction((manager) => save('taken', manager)));
      await save(outcome);
      return outcome;
    });

    expect(answer.text).toBe('failed');
    expect(await names()).toEqual(['failed', 'taken']);
  });

  it('a manager that outlives its transaction() callback is refused, and says why', async () => {
    const answer = await app.run(async () => {
      let leaked: EntityManager | undefined;
      await transaction(async (manager) => {
        leaked = manager;
      });
      return save('leaked', leaked).catch((error: Error) => error.message);
    });

    expect(answer.text).toMatch(/transaction that is over|already released/);
    expect(await names()).toEqual([]);
  });

  it('a call that was begun before a nested transaction and is awaited inside it gets a clear error', async () => {
    await save('found');
    const answer = await app.run(async () => {
      const reading = app.effects.findOneByOrFail({ name: 'found' });
      return transaction(async (manager) => {
        const { name } = await reading;
        return save(`${name}, then written`, manager);
      });
    });

    expect(answer.status).toBe(500);
    expect(app.log.messages('error').at(-1)).toMatch('Await the call before the transaction begins');
    expect(await names()).toEqual(['found']);
    expect(await app.records.count()).toBe(0);
  });
});
