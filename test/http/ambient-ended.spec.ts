import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConflictException, HttpException } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';
import { markRowsWithTransaction, writers } from '../support/transaction-ids.js';

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ name, message, driverError = { name, message } }) => `${driverError.name}: ${driverError.message}`,
  );

/** Work that a handler does not await, and that the test does. */
function floating(work: () => Promise<unknown>) {
  let settled: Promise<unknown> = Promise.resolve();
  return {
    start: () => {
      settled = work();
    },
    outcome: () => messageOf(settled),
  };
}

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter });
    await markRowsWithTransaction(app.dataSource);
  });
  afterAll(() => closeClean(app));
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  const save = (name: string, manager: EntityManager = app.dataSource.manager) =>
    manager.save(Effect, { name });
  const names = async () => (await app.effects.find({ order: { name: 'ASC' } })).map(({ name }) => name);

  describe('work that goes on after the answer', () => {
    it('gets a connection of its own after a commit', async () => {
      const later = floating(() =>
        sleep(200).then(async () => {
          await save('later');
          await app.dataSource.transaction((manager) => save('later, in a transaction', manager));
        }),
      );
      const answer = await app.run(async () => {
        await save('first');
        later.start();
      });
      const atTheAnswer = await names();

      expect(answer.status).toBe(201);
      expect(atTheAnswer).toEqual(['first']);
      expect(await later.outcome()).toBe('done');
      expect(await names()).toEqual(['first', 'later', 'later, in a transaction']);
      expect(new Set((await writers(app.dataSource)).map(({ transaction }) => transaction)).size).toBe(3);
    });

    it('can roll back a transaction of its own after a commit', async () => {
      const later = floating(() =>
        sleep(200).then(() =>
          app.dataSource.transaction('SERIALIZABLE', async (manager) => {
            await save('later', manager);
            throw new Error('out of luck');
          }),
        ),
      );
      await app.run(later.start);

      expect(await later.outcome()).toBe('Error: out of luck');
      expect(await names()).toEqual([]);
    });

    it('goes on with managers of the request, too, each call on a connection of its own', async () => {
      let manager: EntityManager | undefined;
      const later = floating(() => sleep(200).then(() => save('later', manager)));
      await app.run(async ({ context }) => {
        manager = context.manager as EntityManager;
        await save('first', manager);
        later.start();
      });

      expect(await later.outcome()).toBe('done');
      expect(await names()).toEqual(['first', 'later']);
    });

    it.each([
      ['a rollback', new Error('out of luck'), 500],
      ['a final answer that undoes the effects', new ConflictException(), 409],
      ['an answer that is not final', new HttpException('too many', 429), 429],
    ])('is refused after %s', async (_, error, status) => {
      const later = floating(() => sleep(200).then(() => save('later')));
      const answer = await app.run(async () => {
        await save('first');
        later.start();
        throw error;
      });

      expect(answer.status).toBe(status);
      expect(await later.outcome()).toMatch(/^AmbientTransactionError: The transaction of this request/);
      expect(await names()).toEqual([]);
    });

    it('is refused after a rollback on managers and query runners handed out earlier, and in all forms', async () => {
      const calls: Record<string, (manager: EntityManager) => Promise<unknown>> = {
        'the manager of the context': (manager) => save('later', manager),
        'its transaction()': (manager) => manager.transaction((inner) => save('later', inner)),
        'dataSource.transaction()': () => app.dataSource.transaction((inner) => save('later', inner)),
        'dataSource.query()': () => app.dataSource.query(`INSERT INTO effects (name) VALUES ('later')`),
        'a new query runner': () => app.dataSource.createQueryRunner().startTransaction(),
        'a read': () => app.effects.find(),
      };
      let manager: EntityManager | undefined;
      const later = floating(async () => {
        await sleep(200);
        const outcomes = Object.values(calls).map((call) => messageOf(call(manager!)));
        return Promise.reject(new Error(JSON.stringify(await Promise.all(outcomes))));
      });
      await app.run(({ context }) => {
        manager = context.manager as EntityManager;
        later.start();
        throw new Error('out of luck');
      });
      const outcomes = JSON.parse((await later.outcome()).replace('Error: ', '')) as string[];

      expect(outcomes).toHaveLength(Object.keys(calls).length);
      for (const outcome of outcomes) {
        expect(outcome).toMatch(/^AmbientTransactionError: The transaction of this request was rolled back/);
      }
      expect(await names()).toEqual([]);
    });
  });

  it('a save that the handler does not await is in the database after the answer, once', async () => {
    const work = floating(() => save('not awaited'));
    const answer = await app.run(() => work.start());

    expect(answer.status).toBe(201);
    expect(await work.outcome()).toBe('done');
    expect(await names()).toEqual(['not awaited']);
  });

  it('a save that the handler does not await leaves nothing when the handler fails', async () => {
    const work = floating(() => save('not awaited'));
    const answer = await app.run(() => {
      work.start();
      throw new Error('out of luck');
    });
    await work.outcome();

    expect(answer.status).toBe(500);
    expect(await names()).toEqual([]);
  });

  it.each([
    [409, new ConflictException('sold out')],
    [500, new Error('out of luck')],
  ])(
    'work beside the one that fails with %i leaves nothing, however long it goes on',
    async (status, error) => {
      const key = newKey();
      let beside: Promise<string> | undefined;
      const answer = await app.run(
        () => {
          const saving = (async () => {
            for (let index = 0; index < 200; index += 1) {
              await save(`beside ${index}`);
            }
          })();
          beside = messageOf(saving);
          return Promise.all([saving, sleep(30).then(() => Promise.reject(error))]);
        },
        { key },
      );

      expect(answer.status).toBe(status);
      expect(await beside).toMatch(/^AmbientTransactionError: The transaction of this request/);
      expect(await names()).toEqual([]);
      expect(await app.records.count()).toBe(status === 409 ? 1 : 0);
    },
  );

  it('a statement that still runs when the handler fails keeps neither the answer nor the key', async () => {
    const key = newKey();
    const work = floating(() => app.dataSource.query('SELECT pg_sleep(20)'));
    const failed = await app.run(
      async () => {
        await save('first');
        work.start();
        throw new Error('out of luck');
      },
      { key },
    );
    const outcome = await work.outcome();
    await sleep(500);
    const retried = await app.run(() => save('retried'), { key });

    expect(failed.status).toBe(500);
    expect(outcome).not.toBe('done');
    expect(retried.status).toBe(201);
    expect(await names()).toEqual(['retried']);
  });
});
