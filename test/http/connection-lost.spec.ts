import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ConflictException } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  const save = (name: string) => app.effects.save({ name });
  const names = async () => (await app.effects.find({ order: { id: 'ASC' } })).map(({ name }) => name);

  /** Ends the server's side of the handler's connection, from another connection. */
  async function loseConnection(): Promise<void> {
    const [{ pid }] = await app.dataSource.query('SELECT pg_backend_pid() AS pid');
    await withClient(app.database.url, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]));
  }

  /** Loses the connection in the first execution alone; afterwards a retry gets through. */
  async function postTwice(script: (lose: () => Promise<void>) => ReturnType<Script>) {
    const key = newKey();
    const first = await app.run(() => script(loseConnection), { key });
    const left = { effects: await names(), records: await app.records.count() };
    app.handle(() => script(async () => undefined));
    const second = await app.post({ key });
    const third = await app.post({ key });
    expect(third.headers['idempotent-replayed']).toBe('true');
    expect(third.body.equals(second.body)).toBe(true);
    return { first, left, second };
  }

  it('C37: the connection is lost between two writes: no row stays, and a retry executes once', async () => {
    const { first, left, second } = await postTwice(async (lose) => {
      await save('one');
      await lose();
      await sleep(50);
      await save('two');
    });

    expect(first.status).toBeGreaterThanOrEqual(500);
    expect(left).toEqual({ effects: [], records: 0 });
    expect(second.status).toBe(201);
    expect(await names()).toEqual(['one', 'two']);
  });

  it('C37: a handler that swallows the error and goes on writing commits nothing of it', async () => {
    const { first, left, second } = await postTwice(async (lose) => {
      await save('one');
      await lose();
      for (const name of ['two', 'three', 'four']) {
        await save(name).catch(() => undefined);
        await sleep(20);
      }
      await app.dataSource
        .transaction((manager) => manager.save(Effect, { name: 'five' }))
        .catch(() => undefined);
      return 'all is well';
    });

    expect(first.status).toBe(503);
    expect(first.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
    expect(first.headers['retry-after']).toBe('1');
    expect(left).toEqual({ effects: [], records: 0 });
    expect(second.text).toBe('all is well');
    expect(await names()).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  it('C37: the connection is lost after the last write of a handler that succeeds', async () => {
    const { first, left, second } = await postTwice(async (lose) => {
      await save('one');
      await lose();
      return 'all is well';
    });

    expect(first.status).toBe(503);
    expect(first.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
    expect(left).toEqual({ effects: [], records: 0 });
    expect(second.status).toBe(201);
    expect(await names()).toEqual(['one']);
  });

  it('C37: the connection is lost while a statement runs', async () => {
    const key = newKey();
    const first = await app.run(
      async () => {
        await save('one');
        const [{ pid }] = await app.dataSource.query('SELECT pg_backend_pid() AS pid');
        const running = app.dataSource.query('SELECT pg_sleep(10)');
        await withClient(app.database.url, (client) =>
          client.query('SELECT pg_terminate_backend($1)', [pid]),
        );
        await running.catch(() => undefined);
        await save('two').catch(() => undefined);
      },
      { key },
    );
    const left = [await names(), await app.records.count()];
    const retried = await app.run(() => save('retried'), { key });

    expect(first.status).toBe(503);
    expect(first.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
    expect(left).toEqual([[], 0]);
    expect(retried.status).toBe(201);
    expect(await names()).toEqual(['retried']);
  });

  it('C37: the connection is lost inside a nested transaction that the handler catches', async () => {
    const { first, left, second } = await postTwice(async (lose) => {
      await save('one');
      await app.dataSource
        .transaction(async (manager) => {
          await manager.save(Effect, { name: 'two' });
          await lose();
          await manager.save(Effect, { name: 'three' });
        })
        .catch(() => undefined);
      await save('four').catch(() => undefined);
    });

    expect(first.status).toBe(503);
    expect(left).toEqual({ effects: [], records: 0 });
    expect(second.status).toBe(201);
    expect(await names()).toEqual(['one', 'two', 'three', 'four']);
  });

  it('C37: a final answer that the handler throws after the loss is recorded all the same', async () => {
    const key = newKey();
    const first = await app.run(
      async () => {
        await save('one');
        await loseConnection();
        await sleep(50);
        throw new ConflictException('sold out');
      },
      { key },
    );
    const second = await app.post({ key });

    expect(first.status).toBe(409);
    expect(first.json()).toMatchObject({ message: 'sold out' });
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body.equals(first.body)).toBe(true);
    expect(app.executions()).toBe(1);
    expect(await names()).toEqual([]);
  });
});
