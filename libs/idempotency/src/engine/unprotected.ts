import type { ClaimedLease, IdempotencyStore } from '../store/idempotency-store.interface.js';

export const UNPROTECTED_CLAIM: ClaimedLease = { type: 'claimed', attempt: 1, steps: null };

/** Keeps nothing and says yes: for a request that is executed although its claim could not be made. */
export const UNPROTECTED_STORE: IdempotencyStore = {
  keepsTimeLimits: true,
  claim: async () => UNPROTECTED_CLAIM,
  complete: async () => true,
  release: async () => true,
  renew: async () => true,
  recordSteps: async () => true,
  find: async () => undefined,
  inspect: async () => undefined,
  releaseAbandoned: async () => false,
};
