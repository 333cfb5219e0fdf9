import type { RecordedResponse } from '../engine/stored-response.js';
import type { ExistingRecord } from './claim.js';
import type {
  IdempotencyStore,
  LeaseClaim,
  LeaseClaimResult,
  LeaseHold,
  RecordInspection,
} from './idempotency-store.interface.js';
import { NOBODY } from './nobody.js';
import {
  claimBy,
  existing,
  fromNow,
  inspection,
  type RecordChange,
  stateOf,
  type StoredRecord,
} from './stored-record.js';

/**
 * A store that can replace one record atomically, and needs to know nothing else of the protocol: what each operation
 * makes of a record is decided here. Extend it for a database that has a compare-and-set, a lock or a transaction.
 *
 * @publicApi
 */
export abstract class AtomicRecordStore implements IdempotencyStore {
  /**
   * Reads the record of this id, lets `change` decide, and writes what it returns: `record` in place of the one that was
   * read, nothing where it is the same object, no record where it is `undefined`. Where another process was faster in
   * between, nothing may be written, and the whole is done again with what is there now. The promise resolves when the
   * change is durable.
   *
   * @param change gets the record, also an expired one, and the time of the store's clock in milliseconds
   * @param timeLimit milliseconds after which it rejects
   * @param isUrgent a renewal or a step: where the application's own work fills the pool, a handler would wait for itself
   */
  protected abstract change<T>(
    id: Buffer,
    change: RecordChange<T>,
    timeLimit: number,
    isUrgent?: boolean,
  ): Promise<T>;

  claim(claim: LeaseClaim): Promise<LeaseClaimResult> {
    return this.change(claim.id, claimBy(claim), claim.timeLimit);
  }

  complete(hold: LeaseHold, response: RecordedResponse, ttl: number): Promise<boolean> {
    return this.changeHeld(
      hold,
      (record, now) => ({ ...record, response, completedAt: now, expiresAt: fromNow(now, ttl) }),
      true,
    );
  }

  release(hold: LeaseHold): Promise<boolean> {
    return this.changeHeld(hold, freed, false);
  }

  renew(hold: LeaseHold, lockTtl: number): Promise<boolean> {
    return this.changeHeld(
      hold,
      (record, now) => ({ ...record, lockExpiresAt: fromNow(now, lockTtl) }),
      true,
      { isUrgent: true },
    );
  }

  recordSteps(hold: LeaseHold, steps: string): Promise<boolean> {
    return this.changeHeld(hold, (record) => ({ ...record, steps }), false, {
      isLate: ({ steps: recorded }) => isShorter(steps, recorded),
    });
  }

  find(id: Buffer, timeLimit: number): Promise<ExistingRecord | undefined> {
    return this.change(id, (record, now) => ({ record, result: existing(record, now) }), timeLimit);
  }

  inspect(id: Buffer, timeLimit: number): Promise<RecordInspection | undefined> {
    return this.change(
      id,
      (record, now) => ({ record, result: record && inspection(record, now) }),
      timeLimit,
    );
  }

  releaseAbandoned(id: Buffer, timeLimit: number): Promise<boolean> {
    return this.change(
      id,
      (record, now) => {
        const state = record && stateOf(record, now);
        const isFreed = state === 'abandoned' || state === 'released';
        return { record: isFreed ? undefined : record, result: isFreed };
      },
      timeLimit,
    );
  }

  /**
   * Changes what `owner` has in progress, and nothing else.
   *
   * @param whenCompleted what the owner is told of a record that it has completed
   * @param isLate whether what is there is newer than the change
   */
  private changeHeld(
    { id, owner, timeLimit }: LeaseHold,
    change: (record: StoredRecord, now: number) => StoredRecord | undefined,
    whenCompleted: boolean,
    { isLate, isUrgent }: { isLate?: (record: StoredRecord) => boolean; isUrgent?: boolean } = {},
  ): Promise<boolean> {
    return this.change(
      id,
      (record, now) => {
        if (record?.owner !== owner || owner === NOBODY) {
          return { record, result: false };
        }
        if (record.completedAt !== null) {
          return { record, result: whenCompleted };
        }
        return isLate?.(record) ? { record, result: false } : { record: change(record, now), result: true };
      },
      timeLimit,
      isUrgent,
    );
  }
}

/** With steps the record stays, or a retry would repeat them. */
function freed(record: StoredRecord, now: number): StoredRecord | undefined {
  return record.steps === null ? undefined : { ...record, owner: NOBODY, lockExpiresAt: now };
}

function isShorter(text: string, recorded: string | null): boolean {
  return recorded !== null && text.length < recorded.length;
}
