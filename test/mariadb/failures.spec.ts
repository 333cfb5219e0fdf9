import { MariaDbIdempotencyStore, StoreUnreachableError } from '@exactly-once/nestjs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';

import { ANSWER, holdOf, LONG, newClaim } from '../../libs/idempotency/src/testing/store-contract/world.js';
import { type PaymentsApp, startPaymentsApp } from '../stores/payments-app.js';
import { AnswerLosingProxy } from '../support/answer-losing-proxy.js';
import { errorOf } from '../support/error-of.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';
import { isWrite, MariaDbServer } from './mariadb-server.js';
import { describeWithMariaDb } from './with-mariadb.js';

const UNAVAILABLE = 'IDEMPOTENCY_STORE_UNAVAILABLE';

describeWithMariaDb('when MariaDB fails', () => {
  let server: MariaDbServer;
  let proxy: AnswerLosingProxy;
  /** Of the application, by way of the proxy. */
  let dataSource: DataSource;

  const open = async (options: object = {}, ...flags: string[]) => {
    server = await MariaDbServer.start(...flags);
    proxy = await AnswerLosingProxy.start(server.port, isWrite);
    dataSource = await server.connect({ port: proxy.port, ...options });
  };
  afterEach(async () => {
    server.resume();
    await dataSource.destroy();
    await proxy.close();
    await server.stop();
  });

  /** Runs in a transaction of somebody else's, which is rolled back. */
  async function meanwhile(sql: string, work: (locker: QueryRunner) => Promise<void>): Promise<void> {
    const locker = dataSource.createQueryRunner();
    await locker.startTransaction();
    await locker.query(sql);
    await work(locker);
    await locker.rollbackTransaction();
    await locker.query('UNLOCK TABLES');
    await locker.release();
  }

  /** Lets an INSERT fail so often on each connection. */
  async function raiseFrom(state: string, number: number, times: number): Promise<void> {
    const signal = `SIGNAL SQLSTATE '${state}' SET MYSQL_ERRNO = ${number}, MESSAGE_TEXT = 'on purpose'`;
    const condition = times === Infinity ? 'TRUE' : `(@failures := COALESCE(@failures, 0) + 1) <= ${times}`;
    await dataSource.query(
      `CREATE TRIGGER failing BEFORE INSERT ON idempotency_records FOR EACH ROW IF ${condition} THEN ${signal}; END IF`,
    );
  }

  describe('an application', () => {
    let app: PaymentsApp;

    beforeEach(() => open());
    afterEach(() => app.close());

    const start = async (storeTimeout: `${number}ms`) => {
      app = await startPaymentsApp('express', new MariaDbIdempotencyStore(dataSource), { storeTimeout });
    };

    it('C26: executes nothing while it is down, and goes on when it is back', async () => {
      await start('500ms');
      const key = newKey();
      const first = await app.post(key);
      await server.kill();
      const during = newKey();
      expectProblem(await app.post(key), 503, UNAVAILABLE);
      expectProblem(await app.post(during), 503, UNAVAILABLE);
      expect(app.executed(during)).toBe(0);

      await server.launch();
      const replay = await app.insist(key);
      expectReplay(replay, first);
      expect((await app.insist(during)).status).toBe(201);
      expect([app.executed(key), app.executed(during)]).toEqual([1, 1]);
    });

    it('C26: executes nothing while it is silent, and its pool is whole when it answers again', async () => {
      await start('500ms');
      await app.post();
      server.stall();
      const keys = Array.from({ length: 25 }, newKey);
      for (const refused of await Promise.all(keys.map((key) => app.post(key)))) {
        expectProblem(refused, 503, UNAVAILABLE);
      }
      server.resume();
      await Promise.all(keys.map((key) => app.insist(key)));
      for (const key of keys) expect(app.executed(key)).toBe(1);
    });

    it('does not execute a claim whose answer is lost, and its key is free soon', async () => {
      await start('2000ms');
      const key = newKey();
      proxy.loseNextAnswer();
      expectProblem(await app.post(key), 503, UNAVAILABLE);
      expect(app.executed(key)).toBe(0);
      await app.insist(key);
      expect(app.executed(key)).toBe(1);
    });

    it('C25: has recorded an outcome when the server is killed between its write and the answer', async () => {
      await start('5000ms');
      const { key, posting } = await app.begin(300);
      const killed = new Promise<void>((resolve, reject) => {
        proxy.loseNextAnswer(() => server.kill().then(resolve, reject));
      });
      await killed;
      await server.launch();

      const first = await posting;
      expect(first.status).toBe(201);
      const replay = await app.insist(key);
      expectReplay(replay, first);
      expect(app.executed(key)).toBe(1);
    });

    it('does not execute over a damaged record', async () => {
      await start('2000ms');
      const key = newKey();
      await app.post(key);
      await dataSource.query("UPDATE idempotency_records SET headers = '{'");
      expectProblem(await app.post(key), 500, 'IDEMPOTENCY_RECORD_UNREADABLE');
      expect(app.executed(key)).toBe(1);
    });
  });

  describe('an operation', () => {
    it('that waits for a lock gives up in time, and is not carried out later', async () => {
      await open();
      const store = new MariaDbIdempotencyStore(dataSource);
      const claim = newClaim();
      await store.claim(claim);
      await meanwhile('SELECT * FROM idempotency_records FOR UPDATE', async () => {
        const begun = performance.now();
        await expect(store.complete({ ...holdOf(claim), timeLimit: 500 }, ANSWER, LONG)).rejects.toThrow();
        expect(performance.now() - begun).toBeLessThan(600);
        await sleep(100);
      });
      await sleep(200);
      expect((await store.inspect(claim.id, 1_000))?.state).toBe('in-flight');
      expect(await store.complete(holdOf(claim), ANSWER, LONG)).toBe(true);
    });

    it('on a table that somebody has locked gives up in time, and nothing has happened', async () => {
      await open();
      const store = new MariaDbIdempotencyStore(dataSource);
      const claim = newClaim({ timeLimit: 500 });
      await meanwhile('LOCK TABLES idempotency_records WRITE', async () => {
        expect(await errorOf(store.claim(claim))).toBeInstanceOf(StoreUnreachableError);
      });
      await sleep(200);
      expect(await store.find(claim.id, 1_000)).toBeUndefined();
    });

    it('takes no connection whose transaction somebody has left open, and the next one works', async () => {
      await open({ poolSize: 1 });
      const store = new MariaDbIdempotencyStore(dataSource);
      const forgetful = dataSource.createQueryRunner();
      await forgetful.startTransaction();
      await forgetful.release();

      const claim = newClaim();
      const error = await errorOf(store.claim(claim));
      expect(error).toBeInstanceOf(StoreUnreachableError);
      expect(String(error)).toMatch(/left open/);
      expect((await store.claim(claim)).type).toBe('claimed');
      expect(await server.ask('SELECT 1 FROM test.idempotency_records')).toHaveLength(1);
    });

    it.each([
      ['a deadlock', '40001', 1213],
      ['a lock that came too late', 'HY000', 1205],
      ['a record that has changed', 'HY000', 1020],
    ])('is made again after %s', async (_, state, number) => {
      await open({ poolSize: 1 });
      await raiseFrom(state, number, 3);
      const store = new MariaDbIdempotencyStore(dataSource);
      expect((await store.claim(newClaim())).type).toBe('claimed');
    });

    it.each([
      ['has not happened where the server has refused it', '42000', 1142, true],
      ['may have happened where it failed otherwise', 'HY000', 1180, false],
    ])('%s', async (_, state, number, isKnown) => {
      await open();
      await raiseFrom(state, number, Infinity);
      const error = await errorOf(new MariaDbIdempotencyStore(dataSource).claim(newClaim()));
      expect(error).toBeInstanceOf(Error);
      expect(error instanceof StoreUnreachableError).toBe(isKnown);
    });

    it('records an answer that no statement can hold as unavailable', async () => {
      await open({}, '--max-allowed-packet=1M');
      const store = new MariaDbIdempotencyStore(dataSource);
      for (const [bytes, isKept] of [
        [500_000, true],
        [530_000, false],
      ] as const) {
        const claim = newClaim();
        const response = { ...ANSWER, body: Buffer.alloc(bytes, 'x') };
        await store.claim(claim);
        expect(await store.complete(holdOf(claim), response, LONG)).toBe(true);
        expect(await store.find(claim.id, 5_000)).toMatchObject({
          type: 'completed',
          response: isKept ? response : 'unavailable',
        });
      }
    });

    it('never waits for a connection for longer than its time', async () => {
      await open({ poolSize: 1 });
      const store = new MariaDbIdempotencyStore(dataSource);
      const held = dataSource.createQueryRunner();
      await held.connect();
      expect(await errorOf(store.find(newClaim().id, 300))).toBeInstanceOf(StoreUnreachableError);
      await held.release();
      expect(await store.find(newClaim().id, 1_000)).toBeUndefined();
    });

    it('reads steps and answers that are larger than a statement may be by now', async () => {
      await open({}, '--max-allowed-packet=16M');
      const claim = newClaim();
      const larger = { ...ANSWER, body: Buffer.alloc(3_000_000, 'x') };
      const steps = JSON.stringify({ charge: 'x'.repeat(2_000_000) });
      const before = new MariaDbIdempotencyStore(dataSource);
      await before.claim(claim);
      await before.recordSteps(holdOf(claim), steps);
      await server.ask('SET GLOBAL max_allowed_packet = 1048576');
      await dataSource.destroy();
      dataSource = await server.connect({ port: proxy.port });
      const store = new MariaDbIdempotencyStore(dataSource);
      expect(await store.claim(claim)).toMatchObject({ type: 'claimed', steps });

      await server.ask('SET GLOBAL max_allowed_packet = 16777216');
      const other = newClaim();
      const another = await server.connect();
      const generous = new MariaDbIdempotencyStore(another);
      await generous.claim(other);
      await generous.complete(holdOf(other), larger, LONG);
      await another.destroy();
      expect(await store.find(other.id, 5_000)).toMatchObject({ type: 'completed', response: larger });
    });

    it('finds its table although somebody has switched the connection to another database', async () => {
      await open({ poolSize: 1 });
      const store = new MariaDbIdempotencyStore(dataSource);
      const claim = newClaim();
      await store.claim(claim);
      await dataSource.query('CREATE DATABASE other');
      await dataSource.query('CREATE TABLE other.idempotency_records LIKE idempotency_records');
      await dataSource.query('USE other');
      expect((await store.claim({ ...claim, owner: newClaim().owner })).type).toBe('in-flight');
    });

    it.each([
      ['is read-only by what somebody has set', 'SET SESSION TRANSACTION READ ONLY'],
      ['shows no rows by what somebody has set', 'SET SESSION sql_select_limit = 0'],
      ['holds a lock of somebody', 'LOCK TABLES idempotency_records READ'],
    ])('does not use a connection again that %s', async (_, sql) => {
      await open({ poolSize: 1 });
      const store = new MariaDbIdempotencyStore(dataSource);
      await dataSource.query(sql);
      const claim = newClaim();
      expect(await errorOf(store.claim(claim))).toBeInstanceOf(Error);
      expect((await store.claim(claim)).type).toBe('claimed');
    });

    it('renews a lease although handlers hold all connections of the pool, and keeps no other one for it', async () => {
      await open({ poolSize: 1 });
      const store = new MariaDbIdempotencyStore(dataSource);
      const claims = Array.from({ length: 10 }, () => newClaim({ timeLimit: 2_000 }));
      for (const claim of claims) await store.claim(claim);
      const held = dataSource.createQueryRunner();
      await held.connect();
      const before = (await server.ask<unknown[]>('SHOW PROCESSLIST')).length;
      const renewals = await Promise.all(claims.map((claim) => store.renew(holdOf(claim), LONG)));
      expect(renewals).toEqual(claims.map(() => true));
      await eventually(async () => {
        expect(await server.ask('SHOW PROCESSLIST')).toHaveLength(before);
      });
      await held.release();
    });
  });
});
