import { promised } from '../engine/promised.js';
import { withTimeLimit } from '../engine/time-limit.js';
import type { IdempotencyStore, LeaseClaimResult } from './idempotency-store.interface.js';

/** A store that may hang must not keep requests waiting for longer than `storeTimeout`, nor leases from being renewed. */
export function keepTimeLimits(store: IdempotencyStore): IdempotencyStore {
  if (store.keepsTimeLimits) {
    return store;
  }
  return {
    // A store of somebody else's may also throw, or answer with anything.
    claim: async (claim) => checkResult(await within(claim.timeLimit, () => store.claim(claim))),
    complete: (hold, response, ttl) => within(hold.timeLimit, () => store.complete(hold, response, ttl)),
    release: (hold) => within(hold.timeLimit, () => store.release(hold)),
    renew: (hold, lockTtl) => within(hold.timeLimit, () => store.renew(hold, lockTtl)),
    recordSteps: (hold, steps) => within(hold.timeLimit, () => store.recordSteps(hold, steps)),
    // As long as the work of the user's, whose transaction has a limit of its own.
    recordStepsWith: store.recordStepsWith?.bind(store),
    find: (id, timeLimit) => within(timeLimit, () => store.find(id, timeLimit)),
    inspect: (id, timeLimit) => within(timeLimit, () => store.inspect(id, timeLimit)),
    releaseAbandoned: (id, timeLimit) => within(timeLimit, () => store.releaseAbandoned(id, timeLimit)),
  };
}

const RESULTS: readonly unknown[] = ['claimed', 'completed', 'in-flight', 'abandoned'];

/** @throws Error for what no request may be answered by */
function checkResult(result: LeaseClaimResult): LeaseClaimResult {
  if (!RESULTS.includes((result as Partial<LeaseClaimResult> | undefined)?.type)) {
    throw new Error(
      `The store has answered a claim with ${JSON.stringify(result)}, which is no result of one.`,
    );
  }
  return result;
}

function within<T>(timeLimit: number, work: () => Promise<T>): Promise<T> {
  return withTimeLimit('Asking the store', timeLimit, promised(work));
}
