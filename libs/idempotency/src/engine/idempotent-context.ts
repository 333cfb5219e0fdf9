import type { IdempotencyMode } from '../options/idempotent-options.interface.js';

/**
 * What a handler and the services it calls can know of the attempt they run in, and do in it.
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
  /** 1 for the first execution of this key; higher when an abandoned or released one is gone on with (`lease`). */
  readonly attempt: number;
  readonly mode: IdempotencyMode;
  /** `transaction` mode: the `EntityManager` of the request's transaction. Injected repositories use it anyway. */
  readonly manager?: unknown;
  /**
   * Aborted when the attempt can no longer be recorded: its lease went to another process, or its transaction
   * ended. Pass it on to what can be stopped.
   */
  readonly signal: AbortSignal;

  /**
   * Declares that nothing happened: the key is freed and a retry executes, whatever the answer is. In
   * `transaction` mode whatever the handler wrote is rolled back; in `lease` mode recorded steps stay recorded, and the
   * retry goes on behind them.
   */
  release(): void;

  /**
   * A key for somebody else's API: the same in every attempt of this intent, different for every intent, and
   * never the client's own. 64 hexadecimal digits.
   */
  deriveKey(name: string): string;

  /**
   * Runs `work` once per intent, as far as this process can know: in `lease` mode its result is recorded, and an
   * attempt that resumes after a crash gets it without running `work` again. A crash between the effect and the
   * record repeats the step, so `work` should pass `stepKey` on to the service that it calls.
   *
   * The result is JSON, and is given as such in every attempt. In `transaction` mode nothing outlives a crash, so
   * the step just runs. Steps have one name each in an attempt, and run one inside another never.
   *
   * @param work gets `deriveKey(name)`
   * @throws IdempotencyStepError for a wrong use, IdempotencyLeaseLostError when the claim has gone to another
   */
  step<T>(name: string, work: (stepKey: string) => Promise<T> | T): Promise<T>;

  /**
   * A step whose work in the database, through injected repositories, commits together with the note that it is
   * done: after a crash either both are there or neither.
   *
   * @throws as `step()`
   */
  transactionalStep<T>(name: string, work: (stepKey: string) => Promise<T> | T): Promise<T>;

  /**
   * Runs `work` once the outcome is durable, in both modes, and never after a rollback or a release. Its failure is
   * logged and changes nothing. A crash just after the commit loses it: what must not be lost belongs in an outbox.
   */
  afterCommit(work: () => Promise<unknown> | unknown): void;
}
