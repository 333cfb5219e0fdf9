import type { IdempotencyMode } from '../options/idempotent-options.interface.js';

/**
 * What a handler and the services it calls can know of the attempt they run in.
 *
 * @publicApi
 */
export interface IdempotentContext {
  /** The client's key, in canonical form. */
  readonly key: string;
  /** Who the key belongs to; `null` where the `scope` option is `false`. */
  readonly scope: string | null;
  /** Method and route template, or the `operation` option. */
  readonly operation: string;
  /** 1 for the first execution of this key; higher when an abandoned one is repeated (`lease`). */
  readonly attempt: number;
  readonly mode: IdempotencyMode;
  /** `transaction` mode: the `EntityManager` of the request's transaction. Injected repositories use it anyway. */
  readonly manager?: unknown;
  /**
   * Declares that nothing happened: the key is freed and a retry executes, whatever the answer is. In
   * `transaction` mode whatever the handler wrote is rolled back.
   */
  release(): void;
}
