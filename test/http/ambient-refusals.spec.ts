import { AmbientTransactionError } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UnprocessableEntityException } from '@nestjs/common';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const CONTROL = [
  'BEGIN',
  'begin',
  'BEGIN ISOLATION LEVEL SERIALIZABLE',
  'START TRANSACTION',
  'COMMIT',
  'COMMIT AND CHAIN',
  'COMMIT;',
  'END',
  'end transaction',
  'ROLLBACK',
  'ROLLBACK WORK',
  'ROLLBACK TRANSACTION AND CHAIN',
  'rollback;',
  'ABORT',
  "PREPARE TRANSACTION 'later'",
  "prepare /* now */ transaction 'later'",
  '  \n\t COMMIT',
  '; COMMIT',
  ';;\n;COMMIT',
  '-- a remark\nCOMMIT',
  '-- a remark\rCOMMIT',
  '/* a remark */ COMMIT',
  '/* a /* nested */ remark */ COMMIT',
  '/* a remark */ -- and another\n ; /**/ ROLLBACK',
  'COMMIT/* a remark */',
  'COMMIT--a remark',
  'SELECT 1; COMMIT',
  `SELECT 'it''s'; COMMIT`,
  `SELECT E'it\\'s'; COMMIT`,
  `SELECT $a$ ' $a$; COMMIT`,
  `SELECT 1 AS "a ' b"; COMMIT`,
];

/** They only look like the ones above. */
const HARMLESS = [
  'SAVEPOINT mine; ROLLBACK TO SAVEPOINT mine',
  'PREPARE statement AS SELECT 1; DEALLOCATE statement',
  'SELECT 1 AS "commit"',
  "SELECT 'COMMIT'",
  '/* COMMIT */ SELECT 1',
  '-- COMMIT\nSELECT 1',
  `SELECT 'a; COMMIT'`,
  `SELECT E'\\'; COMMIT'`,
  `SELECT $a$; COMMIT; $a$`,
  'SELECT 1 AS "; COMMIT"',
  'DO $$ BEGIN NULL; END $$',
  'SELECT CASE WHEN true THEN 1 END AS commit',
];

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { transactionTimeout: '5s' } });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  /** Runs the call between two writes, and tells what it threw. */
  const attempt = (call: () => Promise<unknown>) =>
    app.run(async () => {
      await app.effects.save({ name: 'before' });
      const error = await call().then(
        () => undefined,
        (thrown: Error & { driverError?: unknown }) => thrown,
      );
      await app.effects.save({ name: 'after' });
      const isOurs = [error, error?.driverError].some((one) => one instanceof AmbientTransactionError);
      return { isOurs, message: error?.message };
    });

  it.each(CONTROL)('SQL that would end the transaction is refused: %j', async (sql) => {
    const answer = await attempt(() => app.dataSource.query(sql));

    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({ isOurs: true });
    expect(answer.json().message).toMatch('Use dataSource.transaction()');
    expect(await app.effects.count()).toBe(2);
    expect(await app.records.count()).toBe(1);
  });

  it.each(['ROLLBACK', 'COMMIT'])('%s by a query runner is refused as well', async (sql) => {
    const answer = await attempt(async () => app.dataSource.createQueryRunner().query(sql));

    expect(answer.json()).toMatchObject({ isOurs: true });
    expect(await app.effects.count()).toBe(2);
  });

  it.each(['COMMIT', { text: 'COMMIT' }, { text: 'ROLLBACK', values: [] }])(
    "what is given to the driver's own client is refused as well: %j",
    async (query) => {
      const answer = await attempt(async () =>
        (await app.dataSource.createQueryRunner().connect()).query(query),
      );

      expect(answer.json()).toMatchObject({ isOurs: true });
      expect(await app.effects.count()).toBe(2);
      expect(await app.records.count()).toBe(1);
    },
  );

  it("a query object that the driver's own client would work off by itself, such as a COPY, is refused", async () => {
    const copy = { submit: () => undefined };
    const answer = await attempt(async () =>
      (await app.dataSource.createQueryRunner().connect()).query(copy),
    );

    expect(answer.json()).toMatchObject({ isOurs: true });
    expect(await app.effects.count()).toBe(2);
  });

  it.each(HARMLESS)('other SQL is not refused: %j', async (sql) => {
    const answer = await attempt(() => app.dataSource.query(sql));

    expect(answer.status).toBe(201);
    expect(answer.json().message).toBeUndefined();
    expect(await app.effects.count()).toBe(2);
  });

  it('a savepoint of its own can be rolled back to', async () => {
    await app.run(async () => {
      await app.dataSource.query('SAVEPOINT mine');
      await app.effects.save({ name: 'undone' });
      await app.dataSource.query('ROLLBACK TO mine');
      await app.dataSource.query('ROLLBACK WORK TO SAVEPOINT mine');
      await app.dataSource.query('ROLLBACK TRANSACTION TO mine');
      await app.effects.save({ name: 'kept' });
    });

    expect((await app.effects.find()).map(({ name }) => name)).toEqual(['kept']);
  });

  it('SQL that ends the transaction past all checks is noticed: no record claims what it did', async () => {
    const answer = await app.run(async () => {
      // From here on Postgres reads strings in another way than the check does.
      await app.dataSource.query('SET LOCAL standard_conforming_strings = off');
      await app.dataSource.query(`INSERT INTO effects (name) VALUES ('\\''); COMMIT; --'`);
      return 'done';
    });
    const logged = JSON.stringify(app.log.lines.filter(({ level }) => level === 'error').at(-1));

    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
    expect(logged).toMatch('SQL of the handler ended the transaction of its request');
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.count()).toBe(0);
  });

  describe('a higher isolation than the request has', () => {
    const levels = ['REPEATABLE READ', 'SERIALIZABLE'] as const;

    it.each(levels)('is refused in dataSource.transaction(): %s', async (level) => {
      const answer = await attempt(() =>
        app.dataSource.transaction(level, (manager) => manager.save(Effect, { name: 'inside' })),
      );

      expect(answer.json()).toMatchObject({ isOurs: true });
      expect(answer.json().message).toMatch(`isolation: '${level}'`);
      expect(await app.effects.count()).toBe(2);
    });

    it.each(levels)('is refused in startTransaction() of a query runner: %s', async (level) => {
      const answer = await attempt(() => app.dataSource.createQueryRunner().startTransaction(level));

      expect(answer.json()).toMatchObject({ isOurs: true });
      expect(answer.json().message).toMatch(`isolation: '${level}'`);
      expect(await app.effects.count()).toBe(2);
    });
  });

  it('an isolation that the request has anyway is not refused', async () => {
    const answer = await attempt(async () => {
      await app.dataSource.transaction('READ UNCOMMITTED', async () => undefined);
      await app.dataSource.transaction('READ COMMITTED', async () => undefined);
    });

    expect(answer.json().message).toBeUndefined();
  });

  it('stream() is refused, for a query in its loop would hang', async () => {
    const answer = await attempt(() => app.effects.createQueryBuilder().stream());

    expect(answer.json()).toMatchObject({ isOurs: true });
    expect(answer.json().message).toMatch('stream()');
    expect(await app.effects.count()).toBe(2);
  });

  it('a refusal that the handler does not catch rolls the request back', async () => {
    const answer = await app.run(async () => {
      await app.effects.save({ name: 'before' });
      await app.dataSource.query('COMMIT');
    });

    expect(answer.status).toBe(500);
    expect(await app.effects.count()).toBe(0);
    await expect(app.run(() => Promise.reject(new UnprocessableEntityException()))).resolves.toMatchObject({
      status: 422,
    });
  });
});
