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

export type LeaseClaimResult = { readonly type: 'claimed'; readonly attempt: number } | ExistingRecord;

/** One attempt's claim on one record. Every write names it, and is refused when another owner has the record. */
export interface LeaseHold {
  readonly id: Buffer;
  readonly owner: string;
  /** Milliseconds. */
  readonly timeLimit: number;
}

/**
 * The store of `lease` mode. Each operation is atomic and durable when its promise resolves; all times are
 * judged by the store's own clock, since those of two application servers may differ by an hour.
 *
 * Every rejection means "not known whether it happened"; each operation may therefore be called again with
 * the same arguments, and then gives the same result.
 */
export interface LeaseStore {
  /**
   * Makes the caller the one that executes, when the record is free, expired, or abandoned and
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

  /** Frees the record, if it is still in progress and `owner` holds it. */
  release(hold: LeaseHold): Promise<void>;

  /**
   * Prolongs the lease by `lockTtl` from now, if the record is still in progress and `owner` holds it.
   *
   * @returns whether the record is the owner's, in progress or completed
   */
  renew(hold: LeaseHold, lockTtl: number): Promise<boolean>;

  /** The record as it stands, or `undefined` where there is none or it has expired. */
  find(id: Buffer, timeLimit: number): Promise<ExistingRecord | undefined>;
}
