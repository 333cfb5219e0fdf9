import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attempt } from './attempt.js';

/** Where in a request the code that asks is running. */
export interface AttemptScope {
  readonly attempt: Attempt;
  /** Inside the handler's own method, rather than in an interceptor or pipe around it. */
  readonly inMethod: boolean;
  /** Whose method the attempt is meant for; nothing else that runs inside it is one. */
  readonly subject: unknown;
}

/** Follows one request through its asynchronous calls. */
export const attemptScope = new AsyncLocalStorage<AttemptScope | undefined>();
