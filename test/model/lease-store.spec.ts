import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { type BatchLimits, SHARED, SINGLE } from '../../libs/idempotency/src/batching/batch-queue.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { plan } from './arbitraries.js';
import { commands, runCommands } from './commands.js';
import { ConcurrentRun } from './concurrent-run.js';
import { type Mutant, racingMutants, sharedMutants, simpleMutants } from './mutants.js';
import { StoreUnderTest } from './store-under-test.js';

const numRuns = Number(process.env['MODEL_RUNS'] ?? 100);
const seed = process.env['MODEL_SEED'] ? { seed: Number(process.env['MODEL_SEED']) } : {};
const patience = 60_000 + numRuns * 200;

const oneAfterTheOther = (store: StoreUnderTest) =>
  fc.asyncProperty(commands, (list) => runCommands(store, list));

const interleaved = (store: StoreUnderTest) =>
  fc.asyncProperty(plan, fc.scheduler(), (each, scheduler) =>
    new ConcurrentRun(store, scheduler).execute(each),
  );

const atOnce = (store: StoreUnderTest) =>
  fc.asyncProperty(plan, (each) => new ConcurrentRun(store).execute(each));

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe.each([
  ['with a statement for each operation', SINGLE],
  ['with statements that concurrent operations share', SHARED],
])('the lease store, %s,', (_, batching) => {
  let store: StoreUnderTest;

  beforeAll(async () => {
    store = await StoreUnderTest.open(database, batching);
  });
  afterAll(() => store.close());

  it(
    'answers operations one after the other as the model does',
    () => fc.assert(oneAfterTheOther(store), { numRuns, ...seed }),
    patience,
  );

  it(
    'answers operations whose statements and commits are interleaved as if they came in some order',
    () => fc.assert(interleaved(store), { numRuns, ...seed }),
    patience,
  );

  it(
    'answers operations that are sent at once as if they came in some order',
    () => fc.assert(atOnce(store), { numRuns, ...seed }),
    patience,
  );
});

describe('operations one after the other', () => {
  it.each(simpleMutants)('let the model find a store that $title', async (mutant) => {
    expect(await isFound(mutant, SINGLE, oneAfterTheOther)).toBe(true);
  });
});

describe('interleaved operations', () => {
  it.each(racingMutants)('let the model find a store that $title', async (mutant) => {
    expect(await isFound(mutant, SINGLE, interleaved)).toBe(true);
  });

  it.each(sharedMutants)('let the model find a store that $title', async (mutant) => {
    expect(await isFound(mutant, SHARED, interleaved)).toBe(true);
  });
});

/** Whether the property fails for a store that lacks this protection; with this seed most do soon. */
async function isFound(
  mutant: Mutant,
  batching: BatchLimits,
  property: (broken: StoreUnderTest) => fc.IAsyncProperty<any>,
): Promise<boolean> {
  const broken = await StoreUnderTest.open(database, batching, mutant);
  const { failed } = await fc.check(property(broken), { numRuns: 5_000, endOnFailure: true, seed: 101 });
  await broken.close();
  return failed;
}
