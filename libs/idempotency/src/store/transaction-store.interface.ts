import type { RecordedResponse } from '../engine/stored-response.js';
import type { IsolationLevel } from '../options/idempotent-options.interface.js';
import type { ClaimTarget, ExistingRecord } from './claim.js';

export interface TransactionClaim extends ClaimTarget {
  /** The fencing token of this attempt: random, and never used again. */
  readonly owner: string;
  /** Milliseconds. */
  readonly ttl: number;
  readonly isolation: IsolationLevel | undefined;
  /** Milliseconds that the transaction may stay open. */
  readonly transactionTimeout: number;
  /** Milliseconds. */
  readonly timeLimit: number;
}

export type TransactionClaimResult =
  { readonly type: 'claimed'; readonly transaction: ClaimedTransaction } | ExistingRecord;

/** Why a transaction is over although nobody asked for it. */
export type TransactionLoss = 'connection-lost' | 'timeout';

/** @param undone resolves when the key is free */
export type LossListener = (loss: TransactionLoss, undone: Promise<void>) => void;

export type CommitResult =
  | { readonly type: 'committed' }
  /** Another attempt recorded its outcome first; this one is rolled back. */
  | { readonly type: 'lost-race'; readonly record: ExistingRecord }
  /** Rolled back. `transient`: a retry may succeed. */
  | { readonly type: 'not-committed'; readonly transient: boolean; readonly cause: unknown }
  /** The answer to COMMIT was lost, and the database could not be asked in time. */
  | { readonly type: 'unknown'; readonly cause: unknown };

/** The transaction of one attempt. Its ends exclude each other; after one, the others do nothing. */
export interface ClaimedTransaction {
  /** What the handler's context shows as `manager`. */
  readonly manager: unknown;

  /** Runs `work` so that everything it starts joins the transaction. */
  run<T>(work: () => T): T;

  /** Runs `work` so that it does not join, although it is called from what did. */
  leave<T>(work: () => T): T;

  /** Runs `work` so that all of it is undone when it fails, and nothing else. */
  runNested<T>(work: () => Promise<T>): Promise<T>;

  /** Whether the handler failed because its work lost to another transaction, so that a retry may succeed. */
  isTransient(error: unknown): boolean;

  /** Ends the transaction and frees the key. Never rejects: a connection that does not answer is destroyed. */
  rollback(): Promise<void>;

  /** Records the outcome and commits, in one message. Never rejects. */
  commit(response: RecordedResponse): Promise<CommitResult>;

  /** The listener is called at most once, when the transaction is over without an end of its own. */
  onLoss(listener: LossListener): void;
}

/** The store of `transaction` mode. */
export interface TransactionStore {
  /**
   * Opens the transaction of an attempt that is the only one with this record, or tells what is there. A
   * record that another request is just executing is `in-flight`; this never waits for it.
   */
  begin(claim: TransactionClaim): Promise<TransactionClaimResult>;
}
