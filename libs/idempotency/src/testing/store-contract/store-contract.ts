import { setTimeout as sleep } from 'node:timers/promises';
import type { IdempotencyStore } from '../../store/idempotency-store.interface.js';
import { CLAIM_CASES } from './claim.cases.js';
import { CONNECTION_CASES } from './connection.cases.js';
import { OPERATOR_CASES } from './operator.cases.js';
import { OUTCOME_CASES } from './outcome.cases.js';
import { RACE_CASES } from './race.cases.js';
import { STEPS_CASES } from './steps.cases.js';
import { newClaim } from './world.js';

/** @publicApi */
export interface StoreContractOptions {
  /**
   * Lets so many milliseconds of the store's clock pass.
   *
   * @default waits for them: a few seconds for all cases
   */
  passTime?: (milliseconds: number) => Promise<unknown>;
  /**
   * Callers that race in each case about races.
   *
   * @default 16
   */
  callers?: number;
  /**
   * Makes the store lose its connection when its next operation has been carried out, and before it is answered: by a proxy
   * between the store and its server, say. Without it, the cases about this are left out.
   */
  loseNextAnswer?: () => unknown;
}

/** @publicApi */
export interface StoreContractCase {
  readonly name: string;
  /** @throws AssertionError */
  readonly run: () => Promise<void>;
}

const CASES = { ...CLAIM_CASES, ...OUTCOME_CASES, ...STEPS_CASES, ...OPERATOR_CASES, ...RACE_CASES };

/**
 * What a store of `lease` mode must do, as cases for any test runner. The cases have keys of their own, so they may share one
 * store.
 *
 * @param createStore called once for each case
 * @publicApi
 */
export function idempotencyStoreContract(
  createStore: () => IdempotencyStore | Promise<IdempotencyStore>,
  { passTime = sleep, callers = 16, loseNextAnswer }: StoreContractOptions = {},
): StoreContractCase[] {
  const cases = loseNextAnswer ? { ...CASES, ...CONNECTION_CASES } : CASES;
  return Object.entries(cases).map(([name, run]) => ({
    name,
    run: async () => run({ store: await createStore(), claim: newClaim, passTime, callers, loseNextAnswer }),
  }));
}
