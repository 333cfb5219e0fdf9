import { IdempotencyRecord } from '@exactly-once/nestjs';
import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';

import { type BatchLimits, SHARED, SINGLE } from '../../libs/idempotency/src/batching/batch-queue.js';
import { PostgresLeaseStore } from '../../libs/idempotency/src/typeorm/postgres-lease.store.js';
import { describeContract } from '../contract/describe-contract.js';
import { postgresVersion } from '../contract/postgres-version.js';
import { applyMutant, type Mutant, simpleMutants } from '../model/mutants.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { failuresOf } from './failures-of.js';

const TIMES = ['created_at', 'lock_expires_at', 'completed_at', 'expires_at', 'purge_at'];

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await new DataSource({
    type: 'postgres',
    url: database.url,
    entities: [IdempotencyRecord],
    poolSize: 20,
  }).initialize();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

function openStore(limits: BatchLimits, mutant?: Mutant): PostgresLeaseStore {
  const logger = { warn: () => undefined, error: () => undefined };
  const store = new PostgresLeaseStore(dataSource.getRepository(IdempotencyRecord), logger, limits);
  if (mutant) applyMutant(mutant, [store]);
  return store;
}

/** All records look older, which is the same to them. */
async function passTime(milliseconds: number): Promise<void> {
  const earlier = TIMES.map((time) => `${time} = ${time} - interval '${milliseconds} milliseconds'`);
  await dataSource.query(`UPDATE idempotency_records SET ${earlier.join()}`);
}

const server = await postgresVersion();
describeContract({
  store: 'Postgres, a statement for each operation',
  server,
  open: () => openStore(SINGLE),
  passTime,
});
describeContract({ store: 'Postgres, shared statements', server, open: () => openStore(SHARED), passTime });

it('the cases can wait for the clock of the store, too', async () => {
  const cases = idempotencyStoreContract(() => openStore(SHARED));
  const slow = cases.filter(({ name }) => /abandoned|expired|retention/.test(name));

  expect(slow.length).toBeGreaterThan(3);
  await Promise.all(slow.map(({ run }) => run()));
});

describe('the contract', () => {
  it.each(simpleMutants)('finds a store that $title', async (mutant) => {
    const cases = idempotencyStoreContract(() => openStore(SINGLE, mutant), { passTime });
    expect(await failuresOf(cases)).not.toEqual([]);
  });
});
