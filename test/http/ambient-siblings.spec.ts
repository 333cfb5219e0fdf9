import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const fail = (): never => {
  throw new Error('out of luck');
};

const outcomes = async (...works: Promise<unknown>[]) =>
  (await Promise.allSettled(works)).map(({ status }) => status);

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

  it('C38: of two transactions side by side the one that fails takes only its own rows with it', async () => {
    const answer = await app.run(() =>
      outcomes(
        transaction(async (manager) => {
          await save('good 1', manager);
          await sleep(50);
          await save('good 2', manager);
        }),
        transaction(async (manager) => {
          await save('bad', manager);
          fail();
        }),
      ),
    );

    expect(answer.json()).toEqual(['fulfilled', 'rejected']);
    expect(await names()).toEqual(['good 1', 'good 2']);
    expect(await app.records.count()).toBe(1);
  });

  it('C38: the same when the failing one comes first, fails late, and repositories do the work', async () => {
    const answer = await app.run(() =>
      outcomes(
        transaction(async () => {
          await save('bad');
          await sleep(50);
          fail();
        }),
        transaction(async () => {
          await save('good 1');
          await sleep(10);
          await save('good 2');
        }),
      ),
    );

    expect(answer.json()).toEqual(['rejected', 'fulfilled']);
    expect(await names()).toEqual(['good 1', 'good 2']);
  });

  it('C38: a database error in one of two transactions side by side leaves the other one usable', async () => {
    await save('taken');
    const answer = await app.run(() =>
      outcomes(
        transaction(async (manager) => {
          await save('good 1', manager);
          await sleep(20);
          await save('good 2', manager);
        }),
        transaction((manager) => save('taken', manager)),
      ),
    );

    expect(answer.json()).toEqual(['fulfilled', 'rejected']);
    expect(await names()).toEqual(['good 1', 'good 2', 'taken']);
  });

  it('C38: of three transactions side by side only the one in the middle is undone', async () => {
    const answer = await app.run(() =>
      outcomes(
        transaction((manager) => save('first', manager).then(() => sleep(30))),
        transaction((manager) => save('second', manager).then(fail)),
        transaction((manager) => save('third', manager)),
      ),
    );

    expect(answer.json()).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await names()).toEqual(['first', 'third']);
  });

  it('C38: repository calls beside a transaction that fails keep their rows', async () => {
    const answer = await app.run(() =>
      outcomes(
        save('beside 1'),
        transaction(async (manager) => {
          await save('bad', manager);
          await sleep(50);
          fail();
        }),
        save('beside 2'),
        sleep(20).then(() => save('beside 3')),
      ),
    );

    expect(answer.json()).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await names()).toEqual(['beside 1', 'beside 2', 'beside 3']);
  });

  it('C38: nested transactions side by side inside transactions side by side are each their own', async () => {
    await app.run(() =>
      Promise.all([
        transaction((outer) =>
          outcomes(
            outer.transaction((inner) => save('a 1', inner).then(fail)),
            outer.transaction((inner) => save('a 2', inner)),
            outer.transaction((inner) => save('a 3', inner)),
          ),
        ),
        transaction((outer) =>
          outcomes(
            outer.transaction((inner) => save('b 1', inner)),
            outer.transaction((inner) => save('b 2', inner)),
            outer.transaction((inner) => save('b 3', inner).then(fail)),
          ),
        ),
      ]),
    );

    expect(await names()).toEqual(['a 2', 'a 3', 'b 1', 'b 2']);
  });

  it('C38: two transactions side by side of which one fails uncaught leave nothing, and a retry executes', async () => {
    const key = newKey();
    app.handle(() =>
      Promise.all([
        transaction(async (manager) => {
          await save('good 1', manager);
          await sleep(50);
          await save('good 2', manager);
        }),
        transaction((manager) => save('unsure', manager).then(() => app.executions() === 1 && fail())),
      ]),
    );
    const failed = await app.post({ key });
    const left = [await names(), await app.records.count()];
    const retried = await app.post({ key });

    expect(failed.status).toBe(500);
    expect(left).toEqual([[], 0]);
    expect(retried.status).toBe(201);
    expect(await names()).toEqual(['good 1', 'good 2', 'unsure']);
  });

  it('C38: a transaction that still runs when the handler returns is finished before the record is written', async () => {
    await app.run(() => {
      void transaction(async (manager) => {
        await save('first', manager);
        await sleep(100);
        await save('second', manager);
      });
      return 'returned';
    });

    expect(await names()).toEqual(['first', 'second']);
    expect(await app.records.count()).toBe(1);
  });

  it('a hundred saves side by side all commit with the record', async () => {
    const answer = await app.run(() =>
      Promise.all(Array.from({ length: 100 }, (_, index) => save(`save ${index}`))),
    );

    expect(answer.status).toBe(201);
    expect(answer.json()).toHaveLength(100);
    expect(await app.effects.count()).toBe(100);
  });
});
