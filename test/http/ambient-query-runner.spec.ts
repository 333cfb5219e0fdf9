import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ConflictException, HttpException } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const fail = (): never => {
  throw new Error('out of luck');
};

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  const save = (name: string, { manager }: Pick<QueryRunner, 'manager'> = app.dataSource) =>
    manager.save(Effect, { name });
  const names = async () => (await app.effects.find({ order: { name: 'ASC' } })).map(({ name }) => name);

  /** The pattern of Nest's documentation. */
  async function withRunner(work: (runner: QueryRunner) => Promise<unknown>, afterCommit = async () => {}) {
    const runner = app.dataSource.createQueryRunner();
    await runner.connect();
    await runner.startTransaction();
    try {
      await work(runner);
      await runner.commitTransaction();
      await afterCommit();
    } catch (error) {
      await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
    }
  }

  it("a query runner's own transaction commits with the record", async () => {
    const answer = await app.run(async () => {
      await save('before');
      await withRunner((runner) => save('inside', runner));
      await save('after');
    });

    expect(answer.status).toBe(201);
    expect(await names()).toEqual(['after', 'before', 'inside']);
    expect(await app.records.count()).toBe(1);
  });

  it("a query runner's own transaction that is rolled back takes only its own rows with it", async () => {
    const answer = await app.run(async () => {
      await save('before');
      await withRunner((runner) => save('inside', runner).then(fail)).catch(() => undefined);
      await save('after');
      return 'went on';
    });

    expect(answer.text).toBe('went on');
    expect(await names()).toEqual(['after', 'before']);
  });

  it("a query runner's own commit is undone when the handler fails later, and a retry executes", async () => {
    const key = newKey();
    const failed = await app.run(() => withRunner((runner) => save('inside', runner)).then(fail), { key });
    const left = [await names(), await app.records.count()];
    const retried = await app.run(() => withRunner((runner) => save('inside', runner)), { key });

    expect(failed.status).toBe(500);
    expect(left).toEqual([[], 0]);
    expect(retried.status).toBe(201);
    expect(await names()).toEqual(['inside']);
  });

  it('C39: a rollback after the commit, as catch blocks do it, leaves the request untouched', async () => {
    const answer = await app.run(async () => {
      await save('before');
      const outcome = await withRunner(
        (runner) => save('inside', runner),
        () => Promise.reject(new Error('the e-mail was not sent')),
      ).catch((error: Error) => error.message);
      await save('after');
      return outcome;
    });

    expect(answer.status).toBe(201);
    expect(answer.text).toBe('the e-mail was not sent');
    expect(await names()).toEqual(['after', 'before', 'inside']);
    expect(await app.records.count()).toBe(1);
  });

  it('C39: when the catch block throws a final answer, nothing of the handler is kept but that answer', async () => {
    const key = newKey();
    const first = await app.run(
      async () => {
        await save('before');
        await withRunner(
          (runner) => save('inside', runner),
          () => Promise.reject(new ConflictException('sold out')),
        );
      },
      { key },
    );
    const second = await app.post({ key });

    expect(first.status).toBe(409);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body.equals(first.body)).toBe(true);
    expect(await names()).toEqual([]);
  });

  it('a rollback without a transaction of its own does nothing, and a commit without one throws', async () => {
    const answer = await app.run(async () => {
      const runner = app.dataSource.createQueryRunner();
      await save('kept', runner);
      await runner.rollbackTransaction();
      const error = await runner.commitTransaction().catch(({ name }: Error) => name);
      await runner.release();
      return { error, names: await names() };
    });

    expect(answer.json()).toEqual({ error: 'TransactionNotStartedError', names: ['kept'] });
    expect(await names()).toEqual(['kept']);
  });

  it('a query runner can begin again, and nest', async () => {
    await app.run(async () => {
      const runner = app.dataSource.createQueryRunner();
      await runner.startTransaction();
      await save('outer', runner);
      await runner.startTransaction();
      await save('inner', runner);
      await runner.rollbackTransaction();
      await runner.commitTransaction();
      await runner.startTransaction();
      await save('again', runner);
      await runner.rollbackTransaction();
      await runner.release();
    });

    expect(await names()).toEqual(['outer']);
  });

  it('transaction() of the manager of a query runner that has begun is nested in what it began', async () => {
    await app.run(() =>
      withRunner(async (runner) => {
        await runner.manager.transaction((manager) => save('kept', { manager }));
        await runner.manager
          .transaction((manager) => save('undone', { manager }).then(fail))
          .catch(() => undefined);
      }),
    );

    expect(await names()).toEqual(['kept']);
  });

  it("a repository used while a query runner's transaction is open gets a clear error", async () => {
    const answer = await app.run(() =>
      withRunner(async (runner) => {
        await save('inside', runner);
        const error = await save('beside').catch(({ message }: Error) => message);
        throw new HttpException(String(error), 422);
      }),
    );

    expect(answer.status).toBe(422);
    expect(answer.json().message).toMatch('createQueryRunner() is open in this request');
    expect(answer.json().message).toMatch('Use the manager of that query runner');
    expect(await names()).toEqual([]);
  });

  it('a transaction that is left open is not committed, and the log names it', async () => {
    const key = newKey();
    const failed = await app.run(
      async () => {
        const runner = app.dataSource.createQueryRunner();
        await runner.startTransaction();
        await save('inside', runner);
        return 'forgotten';
      },
      { key },
    );
    const logged = app.log.lines.findLast(({ level }) => level === 'error');
    const left = [await names(), await app.records.count()];
    const retried = await app.run(() => save('retried'), { key });

    expect(failed.status).toBe(500);
    expect(failed.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
    expect(JSON.stringify(logged)).toMatch('began a transaction with createQueryRunner()');
    expect(left).toEqual([[], 0]);
    expect(retried.status).toBe(201);
  });
});
