import { Idempotent, type IdempotencyRecord } from '@exactly-once/nestjs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { ADAPTERS, onEachAdapter, type AdapterName } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import type { HttpResponse } from '../support/http.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

const EXPIRED = 1_000_000;
const UNEXPIRED = 1_000;

/** Milliseconds that the purge may take on a machine with much else to do. */
const PATIENCE = 150_000;

/**
 * Completed ones, with ids in order, which the index takes in half the time that hashes need.
 * $1 how many, $2 in how many seconds they expire, $3 beginning of their keys
 */
const INSERT_RECORDS = `
  INSERT INTO idempotency_records (id, operation, key, fingerprint, owner, attempt, created_at, completed_at,
                                   expires_at, purge_at, status, headers, body)
  SELECT ($3 || to_char(number, '0000000'))::bytea, 'POST /', $3 || number, '\\x00', gen_random_uuid(), 1, now(), now(),
         now() + $2 * interval '1 second', now() + $2 * interval '1 second', 201, '{}', '\\x00'
    FROM generate_series(1, $1) AS number`;

/** Counts what each DELETE removes. */
const COUNT_DELETED = `
  CREATE TABLE batches (size integer, expired integer);
  CREATE FUNCTION count_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO batches SELECT count(*), count(*) FILTER (WHERE key LIKE 'expired %') FROM deleted;
    RETURN NULL;
  END $$;
  CREATE TRIGGER count_deleted AFTER DELETE ON idempotency_records
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION count_deleted()`;

/** Connections that are opened from now on have it. */
const LIMIT_STATEMENTS = `
  DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''5s''', current_database()); END $$`;

/** A request whose handler has run during the whole purge. */
interface LiveClaim {
  key: string;
  answer: Promise<HttpResponse>;
  /** After the purge. */
  record?: IdempotencyRecord | null;
  /** What a duplicate was told then. */
  duplicate?: HttpResponse;
}

/** Two instances of one application, one on each adapter; each of them purges. */
describe('a million expired records, and a statement_timeout of five seconds', () => {
  const gate = new Gate();
  const apps = {} as Record<AdapterName, IdempotentApp>;
  const answers: Record<AdapterName, HttpResponse[]> = { express: [], fastify: [] };
  const live = {} as Record<AdapterName, LiveClaim>;
  let database: TestDatabase;

  @Controller()
  class OrdersController {
    constructor(@InjectRepository(Effect) private readonly effects: Repository<Effect>) {}

    @Post('transaction')
    @Idempotent({ mode: 'transaction' })
    inTransaction() {
      return this.effects.save({ name: 'order' });
    }

    @Post('lease')
    @Idempotent({ mode: 'lease' })
    underLease() {
      return this.effects.save({ name: 'order' });
    }

    /** Takes longer than its retention. */
    @Post('live')
    @Idempotent({ mode: 'lease', ttl: '1s' })
    async live() {
      await gate.pass();
      return this.effects.save({ name: 'live' });
    }
  }

  const count = async (keys: string): Promise<number> => {
    const [row] = await apps.express.dataSource.query(
      'SELECT count(*)::int FROM idempotency_records WHERE key LIKE $1',
      [`${keys} %`],
    );
    return row.count;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    await withClient(database.url, async (client) => {
      await client.query(INSERT_RECORDS, [EXPIRED, -1, 'expired ']);
      await client.query(INSERT_RECORDS, [UNEXPIRED, 86_400, 'unexpired ']);
      await client.query(COUNT_DELETED);
      await client.query(LIMIT_STATEMENTS);
    });
    for (const adapter of ADAPTERS) {
      const options = { purge: { interval: '1s' } } as const;
      apps[adapter] = await startIdempotentApp({
        adapter,
        database,
        controllers: [OrdersController],
        options,
      });
    }
    gate.close();
    for (const adapter of ADAPTERS) {
      const key = newKey();
      live[adapter] = { key, answer: apps[adapter].post({ key, path: '/live' }) };
    }
    const purging = { isOver: false };
    const asking = ADAPTERS.map(async (adapter) => {
      for (let number = 0; !purging.isOver; number += 1) {
        const path = number % 2 === 0 ? '/transaction' : '/lease';
        answers[adapter].push(await apps[adapter].post({ path }));
        await sleep(50);
      }
    });
    await eventually(async () => expect(await count('expired')).toBe(0), PATIENCE).finally(() => {
      purging.isOver = true;
    });
    await Promise.all(asking);
    for (const adapter of ADAPTERS) {
      const { key } = live[adapter];
      live[adapter].record = await apps[adapter].records.findOneBy({ key });
      live[adapter].duplicate = await apps[adapter].post({ key, path: '/live' });
    }
    gate.open();
  }, PATIENCE + 90_000);
  afterAll(async () => {
    for (const app of Object.values(apps)) await closeClean(app);
    await database.drop();
  });

  it('C36: are removed in bounded batches, of which none fails, and no other record with them', async () => {
    const [batches] = await apps.express.dataSource.query(
      'SELECT max(size) AS largest, sum(expired)::int AS expired FROM batches',
    );

    expect(batches).toEqual({ largest: 1_000, expired: EXPIRED });
    expect(await count('unexpired')).toBe(UNEXPIRED);
  });

  onEachAdapter((adapter) => {
    it('C36: are removed while requests are answered, and claims that live stay', async () => {
      const { dataSource, log } = apps[adapter];
      const { record, duplicate, answer } = live[adapter];

      expect(await dataSource.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '5s' }]);
      expect(log.messages('error')).toEqual([]);
      expect(log.messages('warn').join()).not.toMatch('could not be removed');
      expect(answers[adapter].length).toBeGreaterThan(20);
      expect(new Set(answers[adapter].map((one) => one.status))).toEqual(new Set([201]));
      expect(record?.expiresAt.getTime()).toBeLessThan(Date.now());
      expect(duplicate!.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
      expect((await answer).status).toBe(201);
    });
  });
});
