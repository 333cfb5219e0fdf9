import type { RecordedResponse } from '../engine/stored-response.js';
import type { ClaimTarget, ExistingRecord } from './claim.js';

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

export interface ClaimedLease {
  readonly type: 'claimed';
  /** How often the intent was begun, this time included. */
  readonly attempt: number;
  /** What earlier attempts have recorded with `recordSteps()`; `null` where there is none. */
  readonly steps: string | null;
}

export type LeaseClaimResult = ClaimedLease | ExistingRecord;

/** One attempt's claim on one record. Every write names it, and is refused when another owner has the record. */
export interface LeaseHold {
  readonly id: Buffer;
  readonly owner: string;
  /** Milliseconds. */
  readonly timeLimit: number;
}

/** The work of a step that commits with the note that it is done. */
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

/**
 * The store of `lease` mode. Each operation is atomic and durable when its promise resolves; all times are
 * judged by the store's own clock, since those of two application servers may differ by an hour.
 *
 * A rejection means "not known whether it happened", unless it is a `StoreUnreachableError`; each operation may
 * therefore be called again with the same arguments, and then gives the same result.
 */
export interface LeaseStore {
  /**
   * Makes the caller the one that executes, when the record is free, expired, released with steps, or abandoned and
   * `takeOverAbandoned`. Of any number of concurrent callers exactly one gets `claimed`.
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
   * @param steps an opaque text, which replaces the one before and goes with the record
   */
  recordSteps(hold: LeaseHold, steps: string): Promise<boolean>;

  /**
   * Runs `work` in a transaction that everything it starts joins, and records the steps in the same
   * transaction, under the same condition. Without the record, nothing of the work remains.
   *
   * @returns `recorded` false where the record is not the owner's any more, or the store cannot tell
   * @throws what `work` throws, and when the transaction was rolled back
   */
  recordStepsWith<T>(
    hold: LeaseHold,
    step: StepWork<T>,
  ): Promise<{ readonly result: T; readonly recorded: boolean }>;

  /** What operators see of a record; `undefined` where there is none. */
  inspect(id: Buffer, timeLimit: number): Promise<RecordInspection | undefined>;

  /** Frees the record of an attempt that died. @returns false where it is live, completed or absent */
  releaseAbandoned(id: Buffer, timeLimit: number): Promise<boolean>;

  /** The record as it stands, or `undefined` where there is none or it has expired. */
  find(id: Buffer, timeLimit: number): Promise<ExistingRecord | undefined>;
}
