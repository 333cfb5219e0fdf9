import type { IdempotentHandler } from './idempotent-handlers.js';
import type { IdempotentExchange } from './idempotent-exchange.js';
import { type FrameworkRequest, rawRequest } from './raw-http.js';
import { makeNotes, notesOf } from './request-notes.js';

/** What guard and interceptor know of one request. */
export interface RequestState {
  /** In canonical form. */
  readonly key: string;
  readonly handler: IdempotentHandler;
  /** Once the request was let through. */
  exchange: IdempotentExchange | undefined;
}

/** Hands the key of a request from the guard to the interceptor. */
export function rememberKey(request: FrameworkRequest, key: string, handler: IdempotentHandler): void {
  makeNotes(rawRequest(request)).state = { key, handler, exchange: undefined };
}

/** @returns undefined for a request without a key */
export function stateOf(request: FrameworkRequest): RequestState | undefined {
  return notesOf(rawRequest(request))?.state;
}
