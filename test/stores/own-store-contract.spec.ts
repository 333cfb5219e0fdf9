import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { Pool } from 'pg';

import { TABLE, TableRecordStore } from '../../docs/samples/own-store/table-record.store.js';
import { describeContract } from '../contract/describe-contract.js';
import { postgresVersion } from '../contract/postgres-version.js';
import { emptyTemplate } from '../support/database-templates.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { errorOf } from '../support/error-of.js';

let database: TestDatabase;
let pool: Pool;
let store: TableRecordStore;

beforeAll(async () => {
  database = await createTestDatabase({ template: emptyTemplate });
  pool = new Pool({ connectionString: database.url, max: 20 });
  await pool.query(TABLE);
  store = new TableRecordStore(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

// Time is the database's, so the cases wait for it.
describeContract({
  store: "a store of one's own (docs/samples/own-store)",
  server: await postgresVersion(),
  open: () => store,
});

it('it has at most sixty lines', async () => {
  const source = await readFile('docs/samples/own-store/table-record.store.ts', 'utf8');

  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

it('it gives up in time while its table is locked by somebody else', async () => {
  const id = Buffer.alloc(32, 1);
  const locker = await pool.connect();
  await locker.query('BEGIN; LOCK TABLE records IN ACCESS EXCLUSIVE MODE');
  const error = await errorOf(store.find(id, 500));
  await locker.query('ROLLBACK');
  locker.release();

  expect(String(error)).toMatch('took longer than');
  expect(await store.find(id, 5_000)).toBeUndefined();
});
