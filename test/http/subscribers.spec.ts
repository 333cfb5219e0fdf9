import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConflictException, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import {
  DataSource,
  type EntitySubscriberInterface,
  type InsertEvent,
  type TransactionCommitEvent,
} from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';
import { markRowsWithTransaction, writers } from '../support/transaction-ids.js';

/** Writes down what it is told, and does what the test at hand says. */
@Injectable()
class Witness implements EntitySubscriberInterface<Effect> {
  readonly events: string[] = [];
  beforeCommit: (event: TransactionCommitEvent) => unknown = () => undefined;
  afterCommit: (event: TransactionCommitEvent) => unknown = () => undefined;
  onInsert: (event: InsertEvent<Effect>) => unknown = () => undefined;

  constructor(@InjectDataSource() dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  reset() {
    this.events.length = 0;
    this.beforeCommit = this.afterCommit = this.onInsert = () => undefined;
  }

  async afterInsert(event: InsertEvent<Effect>) {
    await this.onInsert(event);
  }

  async beforeTransactionCommit(event: TransactionCommitEvent) {
    this.events.push('before commit');
    await this.beforeCommit(event);
  }

  async afterTransactionCommit(event: TransactionCommitEvent) {
    this.events.push('after commit');
    await this.afterCommit(event);
  }

  beforeTransactionRollback() {
    this.events.push('before rollback');
  }

  afterTransactionRollback() {
    this.events.push('after rollback');
  }
}

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let witness: Witness;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, providers: [Witness] });
    witness = app.app.get(Witness);
    await markRowsWithTransaction(app.dataSource);
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    await Promise.all([app.effects.clear(), app.records.clear()]);
    witness.reset();
  });

  const save = (name: string) => app.effects.save({ name });
  const nested = (fails: boolean) =>
    app.dataSource
      .transaction(async () => {
        await save('nested');
        await app.dataSource.transaction(() => save('nested twice'));
        if (fails) throw new Error('caught by the handler');
      })
      .catch(() => undefined);
  const committedRows = () => app.dataSource.createQueryRunner();

  describe('what an entity subscriber writes through event.manager', () => {
    beforeEach(() => {
      witness.onInsert = ({ entity, manager }) =>
        entity.name === 'order' && manager.save(Effect, { name: 'audit' });
    });

    it('commits in one transaction with the record', async () => {
      await app.run(() => save('order'));
      const transactions = (await writers(app.dataSource)).map(({ transaction }) => transaction);

      expect((await app.effects.find()).map(({ name }) => name)).toEqual(['order', 'audit']);
      expect(transactions).toEqual([transactions[0], transactions[0]]);
    });

    it('is undone when the handler fails later', async () => {
      const answer = await app.run(async () => {
        await save('order');
        throw new Error('out of luck');
      });

      expect(answer.status).toBe(500);
      expect(await app.effects.count()).toBe(0);
    });
  });

  it('a commit is told once, at the real end, and nested transactions are not told', async () => {
    await app.run(async () => {
      await nested(false);
      await nested(true);
      const runner = app.dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.commitTransaction();
      await save('order');
      expect(witness.events).toEqual([]);
    });

    expect(witness.events).toEqual(['before commit', 'after commit']);
  });

  it('a rollback is told once, at the real end', async () => {
    const answer = await app.run(async () => {
      await nested(false);
      await nested(true);
      expect(witness.events).toEqual([]);
      throw new Error('out of luck');
    });

    expect(answer.status).toBe(500);
    expect(witness.events).toEqual(['before rollback', 'after rollback']);
  });

  it('a final answer that undoes the effects is not told as their commit', async () => {
    const answer = await app.run(async () => {
      await save('order');
      throw new ConflictException('sold out');
    });

    expect(answer.status).toBe(409);
    expect(await app.records.count()).toBe(1);
    expect(witness.events).toEqual(['before rollback', 'after rollback']);
  });

  it('what is written before the commit takes part in it', async () => {
    witness.beforeCommit = ({ manager }) => manager.save(Effect, { name: 'outbox' });
    await app.run(() => save('order'));
    const transactions = (await writers(app.dataSource)).map(({ transaction }) => transaction);

    expect((await app.effects.find()).map(({ name }) => name)).toEqual(['order', 'outbox']);
    expect(new Set(transactions).size).toBe(1);
  });

  it('after the commit the rows are there for everybody, and more can be written', async () => {
    let seen: unknown;
    witness.afterCommit = async ({ manager }) => {
      const runner = committedRows();
      seen = await runner.query('SELECT name FROM effects');
      await runner.release();
      await manager.save(Effect, { name: 'afterwards' });
    };
    const answer = await app.run(() => save('order'));

    expect(answer.status).toBe(201);
    expect(seen).toEqual([{ name: 'order' }]);
    expect((await app.effects.find()).map(({ name }) => name)).toEqual(['order', 'afterwards']);
  });

  it('a subscriber that fails before the commit prevents it', async () => {
    witness.beforeCommit = () => Promise.reject(new Error('the outbox is full'));
    const answer = await app.run(() => save('order'));
    const logged = app.log.lines.findLast(({ level }) => level === 'error');

    expect(answer.status).toBe(500);
    expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
    expect(JSON.stringify(logged)).toMatch('the outbox is full');
    expect(await app.effects.count()).toBe(0);
    expect(await app.records.count()).toBe(0);
    expect(witness.events).toEqual(['before commit', 'before rollback', 'after rollback']);
  });

  it('a subscriber that fails after the commit changes nothing, and is logged', async () => {
    witness.afterCommit = () => Promise.reject(new Error('the message bus is down'));
    const answer = await app.run(() => save('order'));
    const logged = app.log.lines.findLast(({ level }) => level === 'error');

    expect(answer.status).toBe(201);
    expect(JSON.stringify(logged)).toMatch('the message bus is down');
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.count()).toBe(1);
  });
});
