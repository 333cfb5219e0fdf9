import type { IdempotentHandler } from './idempotent-handlers.js';
import type { IdempotentExchange } from './idempotent-exchange.js';

/** What guard and interceptor know of one request. */
export interface RequestState {
  /** In canonical form. */
  readonly key: string;
  readonly handler: IdempotentHandler;
  /** Once the request was let through. */
  exchange: IdempotentExchange | undefined;
}

/**
 * Not properties of the request: Express changes the prototype of each, and the engine then makes a new shape for each
 * property that is added.
 */
const states = new WeakMap<object, RequestState>();

/** Hands the key of a request from the guard to the interceptor. */
export function rememberKey(request: object, key: string, handler: IdempotentHandler): void {
  states.set(request, { key, handler, exchange: undefined });
}

/** @returns undefined for a request without a key */
export function stateOf(request: object): RequestState | undefined {
  return states.get(request);
}
