import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSubscriber, type EntitySubscriberInterface } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

let events: string[] = [];

@EventSubscriber()
class TransactionSubscriber implements EntitySubscriberInterface {
  beforeTransactionCommit(): void {
    events.push('before commit');
  }

  afterTransactionCommit(): void {
    events.push('after commit');
  }

  beforeTransactionRollback(): void {
    events.push('before rollback');
  }

  afterTransactionRollback(): void {
    events.push('after rollback');
  }
}

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({
      adapter,
      handler: { mode: 'lease', onAbandoned: 'retry', storeTimeout: '2s', transactionTimeout: '1s' },
      dataSource: { poolSize: 2, subscribers: [TransactionSubscriber] },
    });
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    await Promise.all([app.effects.clear(), app.records.clear()]);
    events = [];
  });

  const names = async () => (await app.effects.find()).map(({ name }) => name);

  it('the connection of a transactionalStep() is lost: it fails, its rows go, and the app lives on', async () => {
    let error: unknown;
    const answer = await app.run(async ({ context }) => {
      const failing = context.transactionalStep('reserve', async () => {
        await app.effects.save({ name: 'seat' });
        const [{ pid }] = await app.dataSource.query('SELECT pg_backend_pid() AS pid');
        await withClient(app.database.url, (client) =>
          client.query('SELECT pg_terminate_backend($1)', [pid]),
        );
        await sleep(100);
        await app.effects.save({ name: 'second seat' });
      });
      await failing.catch((cause: unknown) => (error = cause));
      await app.effects.save({ name: 'after' });
    });

    expect(error).toHaveProperty('message');
    expect(answer.status).toBe(201);
    expect(await names()).toEqual(['after']);
  });

  it('eight transactionalStep()s at a time get by with a pool of two connections', async () => {
    app.handle(({ context }) =>
      context.transactionalStep('reserve', async () => {
        await app.effects.save({ name: context.key });
        await sleep(20);
        await app.effects.save({ name: context.key });
      }),
    );
    const answers = await Promise.all(Array.from({ length: 8 }, () => app.post()));

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
    expect(await app.effects.count()).toBe(16);
  });

  it('a transactionalStep() that hangs longer than transactionTimeout does not keep its locks', async () => {
    await app.dataSource.query(`INSERT INTO effects VALUES (1, 'free')`);
    let letGo!: () => void;
    const freed = new Promise<void>((resolve) => (letGo = resolve));
    let hanging!: Promise<unknown>;
    await new Promise<void>((locked, reject) => {
      app.handle(({ context }) =>
        context.transactionalStep('reserve', async () => {
          await app.effects.update(1, { name: 'reserved' });
          locked();
          await freed;
        }),
      );
      hanging = app.post();
      hanging.catch(reject);
    });
    const taking = withClient(app.database.url, async (client) => {
      await client.query(`SET lock_timeout = '5s'`);
      return client.query(`UPDATE effects SET name = 'taken' WHERE id = 1`);
    });
    const { rowCount } = await taking.finally(() => {
      letGo();
      return hanging;
    });

    expect(rowCount).toBe(1);
    expect(await names()).toEqual(['taken']);
  });

  it('subscribers hear of the transaction of a transactionalStep() as of any other', async () => {
    await app.run(async ({ context }) => {
      await context.transactionalStep('reserve', () => app.effects.save({ name: 'seat' }));
      events.push('committed');
      const failing = context.transactionalStep('charge', async () => {
        await app.effects.save({ name: 'other seat' });
        throw new Error('failed');
      });
      await failing.catch(() => undefined);
    });

    expect(events).toEqual([
      'before commit',
      'after commit',
      'committed',
      'before rollback',
      'after rollback',
    ]);
  });
});
