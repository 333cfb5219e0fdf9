import type { RecordedResponse } from '../engine/stored-response.js';
import type { ClaimTarget, ExistingRecord } from './claim.js';

/** What a request asks for. @publicApi */
export interface LeaseClaim extends ClaimTarget {
  /** The fencing token of this attempt: random, and never used again. */
  readonly owner: string;
  /** Milliseconds. */
  readonly lockTtl: number;
  /** Milliseconds. */
  readonly ttl: number;
  /** Whether an abandoned record with the same fingerprint may be taken over. */
  readonly takeOverAbandoned: boolean;
  /** Milliseconds. */
  readonly timeLimit: number;
}

/** The caller is the one that executes. @publicApi */
export interface ClaimedLease {
  readonly type: 'claimed';
  /** How often the intent was begun, this time included. */
  readonly attempt: number;
  /** What earlier attempts have recorded with `recordSteps()`; `null` where there is none. */
  readonly steps: string | null;
}

/** @publicApi */
export type LeaseClaimResult = ClaimedLease | ExistingRecord;

/** One attempt's claim on one record. Every write names it, and is refused when another owner has the record. @publicApi */
export interface LeaseHold {
  readonly id: Buffer;
  readonly owner: string;
  /** Milliseconds. */
  readonly timeLimit: number;
}

/** The work of a step that commits with the note that it is done. @publicApi */
export interface StepWork<T> {
  readonly work: () => Promise<T>;
  /** Gives the text to record, from what `work` has returned. */
  readonly stepsAfter: (result: T) => string;
  /** Milliseconds that the transaction may stay open. */
  readonly transactionTimeout: number;
}

/** A record as operators see it: without fingerprint and response. @publicApi */
export interface RecordInspection {
  readonly state: 'in-flight' | 'completed' | 'abandoned' | 'released' | 'expired';
  readonly scope: string | null;
  readonly operation: string;
  readonly key: string;
  readonly attempt: number;
  readonly owner: string;
  readonly createdAt: Date;
  /** `null` for a record that its own transaction wrote. */
  readonly lockExpiresAt: Date | null;
  readonly completedAt: Date | null;
  readonly expiresAt: Date;
  /** HTTP status of the recorded response; `null` while there is none, or it is unavailable. */
  readonly status: number | null;
  /** Steps that are done, as recorded. */
  readonly steps: string | null;
}

/** Injection token of the store that is used: `app.get(IdempotencyStore)`. @publicApi */
export const IdempotencyStore = Symbol('IdempotencyStore');

/**
 * Where the records of `lease` mode are kept. Choose one with `IdempotencyModule.forRoot({ store })`; without that, they
 * are in Postgres. One that you write has to pass `idempotencyStoreContract()` of `@exactly-once/nestjs/testing`;
 * extending `AtomicRecordStore` leaves one method to write.
 *
 * **Atomic.** Each operation reads and writes one record as a whole: of two that arrive together, one sees what the
 * other has done. They come from many processes. A read that is followed by a separate write lets two requests execute,
 * or a process that has lost its lease overwrite what its successor has recorded.
 *
 * **Durable** when its promise resolves: what the store forgets after that is executed again.
 *
 * **The store's own clock** decides when leases and retentions are over, since the clocks of two application servers may
 * differ by an hour. A record is absent once its retention (`ttl`) is over and no live lease is on it, whether or not it
 * was removed.
 *
 * **Repeatable.** A rejection means "not known whether it happened", unless it is a `StoreUnreachableError`. Each
 * operation may therefore be called again with the same arguments, by its owner alone, and then gives the same result.
 * It may even take effect after it was given up; the owner in it keeps it from harm.
 *
 * @publicApi
 */
export interface IdempotencyStore {
  /**
   * Whether each operation rejects within its `timeLimit` by itself. Where it does not say so, the caller is told after
   * that time, and the operation goes on unheeded.
   *
   * @default false
   */
  readonly keepsTimeLimits?: boolean;

  /**
   * Makes the caller the one that executes, when the record is free, expired, released with steps, or abandoned and
   * `takeOverAbandoned`. Of any number of concurrent callers exactly one gets `claimed`; the others are shown what is
   * there, with the fingerprint that was stored with it. A released or abandoned record goes only to a claim with its
   * own fingerprint, with its steps, and its `attempt` counts on.
   */
  claim(claim: LeaseClaim): Promise<LeaseClaimResult>;

  /**
   * Records the outcome, if the record is still in progress and `owner` holds it: also when its lease has run
   * out, as long as nobody took it over. A repeated call of the same owner gives `true`.
   *
   * Without the comparison, a process that was stopped for longer than its lease would overwrite the result
   * of the one that took over.
   */
  complete(hold: LeaseHold, response: RecordedResponse, ttl: number): Promise<boolean>;

  /**
   * Frees the record, if it is still in progress and `owner` holds it. Where the attempt, or an earlier one, has
   * recorded steps, the record stays with them and belongs to nobody: the next claim with the same fingerprint gets it,
   * whatever `takeOverAbandoned` says, and one with another fingerprint is shown an abandoned record.
   *
   * @returns whether it was freed by this call
   */
  release(hold: LeaseHold): Promise<boolean>;

  /**
   * Prolongs the lease by `lockTtl` from now, if the record is still in progress and `owner` holds it.
   *
   * @returns whether the record is the owner's, in progress or completed
   */
  renew(hold: LeaseHold, lockTtl: number): Promise<boolean>;

  /**
   * Records which steps of the attempt are done, if the record is still in progress and `owner` holds it.
   *
   * @param steps an opaque text, which replaces the one before and goes with the record. It only grows, so one that is
   * shorter than what is recorded was sent before that, was given up, and comes late: it is refused, or the next attempt
   * would repeat a step
   */
  recordSteps(hold: LeaseHold, steps: string): Promise<boolean>;

  /**
   * Only for a store in the application's own database: runs `work` in a transaction that everything it starts joins, and
   * records the steps in the same transaction, under the same condition. Without the record, nothing of the work
   * remains. `transactionalStep()` needs it.
   *
   * @returns `recorded` false where the record is not the owner's any more, or the store cannot tell
   * @throws what `work` throws, and when the transaction was rolled back
   */
  recordStepsWith?<T>(
    hold: LeaseHold,
    step: StepWork<T>,
  ): Promise<{ readonly result: T; readonly recorded: boolean }>;

  /** The record as it stands, or `undefined` where there is none or it has expired. */
  find(id: Buffer, timeLimit: number): Promise<ExistingRecord | undefined>;

  /** What operators see of a record; `undefined` where there is none. */
  inspect(id: Buffer, timeLimit: number): Promise<RecordInspection | undefined>;

  /**
   * Frees the record of an attempt that died, or that was released with steps.
   *
   * @returns false where it is live, completed or absent
   */
  releaseAbandoned(id: Buffer, timeLimit: number): Promise<boolean>;

  /**
   * Removes expired records, never a live claim. A store that lets them expire by itself has no need of it.
   *
   * @param limit how many at most
   * @returns how many; fewer than `limit` when there are no more
   */
  purge?(limit: number, timeLimit: number): Promise<number>;

  /**
   * Called at start-up, before requests are served.
   *
   * @throws IdempotencyConfigurationError that says what to do where the store cannot be used
   */
  open?(): Promise<void>;

  /** Called at shutdown, when all attempts are over: closes what the store has opened itself. */
  close?(): Promise<void>;
}
