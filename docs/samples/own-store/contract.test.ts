// #region contract
import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { after, test } from 'node:test';
import { Pool } from 'pg';
import { TABLE, TableRecordStore } from './table-record.store.js';

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
await pool.query(TABLE);
after(() => pool.end());
const store = new TableRecordStore(pool);

for (const callers of [16, 64]) {
  for (const { name, run } of idempotencyStoreContract(() => store, { callers })) {
    test(`${callers} callers: ${name}`, run);
  }
}
// #endregion
