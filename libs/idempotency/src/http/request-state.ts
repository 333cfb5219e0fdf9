import type { IdempotentHandler } from './idempotent-handlers.js';
import type { IdempotentExchange } from './idempotent-exchange.js';
import { makeNotes, notesOf, rawResponse } from './response-notes.js';

/** What guard and interceptor know of one request. */
export interface RequestState {
  /** In canonical form. */
  readonly key: string;
  readonly handler: IdempotentHandler;
  /** From when the request was let through until it is answered. */
  exchange: IdempotentExchange | undefined;
}

/** Hands the key of a request from the guard to the interceptor. @param response as the framework has it */
export function rememberKey(response: object, key: string, handler: IdempotentHandler): void {
  makeNotes(rawResponse(response)).state = { key, handler, exchange: undefined };
}

/** @returns undefined for a request without a key */
export function stateOf(response: object): RequestState | undefined {
  return notesOf(rawResponse(response))?.state;
}
