import { IdempotencyService } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeClean } from '../support/clean-close.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** Counts the rows that each DELETE removes. */
const COUNT_DELETED = `
  CREATE TABLE batches (size integer);
  CREATE FUNCTION count_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO batches SELECT count(*) FROM deleted HAVING count(*) > 0;
    RETURN NULL;
  END $$;
  CREATE TRIGGER count_deleted AFTER DELETE ON idempotency_records
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION count_deleted()`;

/** $1 how many, $2 in how many seconds they expire; completed ones. */
const INSERT_RECORDS = `
  INSERT INTO idempotency_records (id, operation, key, fingerprint, owner, attempt, created_at, completed_at,
                                   expires_at, purge_at, status, headers, body)
  SELECT sha256(gen_random_uuid()::text::bytea), 'POST /', 'key ' || number, '\\x00', gen_random_uuid(), 1, now(), now(),
         now() + $2 * interval '1 second', now() + $2 * interval '1 second', 201, '{}', '\\x00'
    FROM generate_series(1, $1) AS number`;

const service = (app: ScriptedApp) => app.app.get(IdempotencyService);

const insert = (app: ScriptedApp, count: number, expiresIn: number) =>
  app.dataSource.query(INSERT_RECORDS, [count, expiresIn]);

async function untilOnly(app: ScriptedApp, count: number, patience: number) {
  const deadline = Date.now() + patience;
  while ((await app.records.count()) !== count && Date.now() < deadline) await sleep(100);
  expect(await app.records.count()).toBe(count);
}

describe('purging', () => {
  let database: TestDatabase;
  let apps: ScriptedApp[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  afterEach(async () => {
    for (const app of apps) await closeClean(app);
  });

  async function start(purge: { interval?: `${number}s`; batchSize?: number } | false, count = 1) {
    apps = [];
    for (let index = 0; index < count; index += 1) {
      apps.push(
        await startScriptedApp({
          adapter: 'express',
          database,
          options: { purge },
          handler: { mode: 'lease', ttl: '2s' },
        }),
      );
    }
    return apps as [ScriptedApp, ...ScriptedApp[]];
  }

  describe('in the background', () => {
    it('empties the table of ten thousand records after their retention, and leaves live claims alone', async () => {
      const [app] = await start({ interval: '1s' });
      const key = newKey();
      let finish!: () => void;
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const live = app.run(() => finished.then(() => 'lived'), { key });
      await eventually(async () => expect(await app.records.count()).toBe(1));
      await insert(app, 10_000, 2);
      const before = await app.records.count();
      await untilOnly(app, 1, 10_000);
      const survivor = await app.records.findOneByOrFail({ key });
      const duplicate = await app.post({ key });
      finish();
      const answer = await live;
      const replayed = await app.post({ key });
      await untilOnly(app, 0, 10_000);

      expect(before).toBe(10_001);
      expect(survivor.expiresAt.getTime()).toBeLessThan(Date.now());
      expect(duplicate.status).toBe(409);
      expect(answer.text).toBe('lived');
      expect(replayed.headers['idempotent-replayed']).toBe('true');
    });

    it('by two instances at a time empties the table too', async () => {
      const [app] = await start({ interval: '1s' }, 2);
      await insert(app, 5_000, 1);
      await insert(app, 7, 3_600);
      await untilOnly(app, 7, 10_000);
      await app.records.clear();

      expect(apps.flatMap(({ log }) => log.messages('warn')).join()).not.toMatch('could not be removed');
    });
  });

  describe('on demand', () => {
    let app: ScriptedApp;

    beforeEach(async () => {
      [app] = await start(false, 2);
      await app.records.clear();
    });

    it('tells how many were removed, and removes none that is not expired', async () => {
      await insert(app, 2_500, -1);
      await insert(app, 10, 3_600);

      expect(await service(app).purge()).toBe(2_500);
      expect(await service(app).purge()).toBe(0);
      expect(await app.records.count()).toBe(10);
    });

    it('never removes what expires and is in progress under a live lease, and removes it when that has lapsed', async () => {
      await insert(app, 2, -10);
      await app.dataSource.query(
        `UPDATE idempotency_records SET completed_at = NULL, status = NULL, headers = NULL, body = NULL,
           lock_expires_at = now() + CASE key WHEN 'key 1' THEN interval '1 hour' ELSE interval '-1 second' END`,
      );

      expect(await service(app).purge()).toBe(1);
      expect((await app.records.find()).map(({ key }) => key)).toEqual(['key 1']);
    });

    it('by two instances at once removes each record once', async () => {
      await insert(app, 6_000, -1);
      const removed = await Promise.all([...apps, ...apps].map((instance) => service(instance).purge()));
      const rest = await service(app).purge();

      expect(removed.reduce((sum, count) => sum + count, rest)).toBe(6_000);
      expect(await app.records.count()).toBe(0);
    });

    it('skips a record that somebody holds, and does not wait for it', async () => {
      await insert(app, 3, -1);
      const runner = app.dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.query(`SELECT FROM idempotency_records WHERE key = 'key 2' FOR UPDATE`);
      const removed = await service(app).purge();
      await runner.rollbackTransaction();
      await runner.release();

      expect(removed).toBe(2);
      expect(await service(app).purge()).toBe(1);
    });
  });

  it.each([1, 300])('removes no more than batchSize (%i) rows at a time', async (batchSize) => {
    const own = await createTestDatabase();
    const app = await startScriptedApp({
      adapter: 'express',
      database: own,
      options: { purge: { interval: '1h', batchSize } },
    });
    await app.dataSource.query(COUNT_DELETED);
    await insert(app, 3 * batchSize + 1, -1);
    const removed = await service(app).purge();
    const batches = await app.dataSource.query(
      'SELECT size, count(*)::int FROM batches GROUP BY size ORDER BY size',
    );
    apps = [];
    await closeClean(app);
    await own.drop();

    expect(removed).toBe(3 * batchSize + 1);
    expect(batches).toEqual(
      batchSize === 1
        ? [{ size: 1, count: 4 }]
        : [
            { size: 1, count: 1 },
            { size: batchSize, count: 3 },
          ],
    );
  });
});
