import { declaredNothingDone } from '../errors/nothing-done.js';
import type { IdempotencyMode } from '../options/idempotent-options.interface.js';
import { errorStatus } from './error-status.js';

/** How the handler's own method ended. */
export type MethodEnd =
  | { readonly type: 'not-begun' }
  | { readonly type: 'returned' }
  | { readonly type: 'threw'; readonly error: unknown };

/** How the response ended. `broken` and `too-large` ones have a body that is not known as a whole. */
export interface ResponseEnd {
  readonly status: number;
  readonly type: 'complete' | 'too-large' | 'broken' | 'by-outsider';
}

export type Outcome = 'store' | 'store-unavailable' | 'release';

/** Answers about the caller or the moment, not about the intent: a retry may get another one. */
const NOT_FINAL: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);

/** Whether a handler that threw this gave a final answer, to be kept without its effects (`transaction`). */
function isFinalRefusal(error: unknown): boolean {
  const status = errorStatus(error);
  return status < 500 && !NOT_FINAL.has(status) && !declaredNothingDone(error);
}

/**
 * What becomes of the key. The rule: keep what may have had an effect or is a final answer; free the key
 * for what provably had no effect. `storeIf` is not part of it: it can only turn "store" into "release".
 *
 * @param released whether the handler declared through its context that nothing happened
 */
export function decideOutcome(
  mode: IdempotencyMode,
  method: MethodEnd,
  response: ResponseEnd,
  released: boolean,
): Outcome {
  if (method.type === 'not-begun' || released) {
    return 'release';
  }
  return mode === 'transaction' ? afterTransaction(method, response) : afterLease(method, response);
}

/** A rollback is possible until COMMIT, so whatever is not a clean answer leaves nothing behind. */
function afterTransaction(method: MethodEnd, response: ResponseEnd): Outcome {
  if (response.type === 'broken' || response.type === 'by-outsider' || response.status >= 500) {
    return 'release';
  }
  if (method.type === 'threw' && !isFinalRefusal(method.error)) {
    return 'release';
  }
  return response.type === 'too-large' ? 'store-unavailable' : 'store';
}

/** The effect may have happened whatever the answer says, unless the handler knows better. */
function afterLease(method: MethodEnd, response: ResponseEnd): Outcome {
  if (method.type === 'threw' && declaredNothingDone(method.error)) {
    return 'release';
  }
  return response.type === 'complete' ? 'store' : 'store-unavailable';
}
