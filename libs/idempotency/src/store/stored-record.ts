import type { RecordedResponse } from '../engine/stored-response.js';
import type { ExistingRecord } from './claim.js';
import type { LeaseClaim, LeaseClaimResult, RecordInspection } from './idempotency-store.interface.js';
import { NOBODY } from './nobody.js';

/** A record of `lease` mode as a plain value. Times are milliseconds of the store's clock. @publicApi */
export interface StoredRecord {
  readonly scope: string | null;
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  /** The attempt that holds it or has completed it; `NOBODY` once it was released with steps. */
  readonly owner: string;
  readonly attempt: number;
  readonly steps: string | null;
  readonly createdAt: number;
  readonly lockExpiresAt: number;
  readonly completedAt: number | null;
  readonly expiresAt: number;
  /** `null` until it is completed. */
  readonly response: RecordedResponse | null;
}

/** What becomes of a record, and what the caller is told. `record` `undefined` removes it; the same object leaves it. @publicApi */
export interface Changed<T> {
  readonly record: StoredRecord | undefined;
  readonly result: T;
}

/** A state change of one record: a function without effects, so it may be called again when the record has changed. @publicApi */
export type RecordChange<T> = (record: StoredRecord | undefined, now: number) => Changed<T>;

/** When the record counts as absent: its retention is over, and nobody holds a live lease. @publicApi */
export function absentFrom({ completedAt, lockExpiresAt, expiresAt }: StoredRecord): number {
  return completedAt === null ? Math.max(expiresAt, lockExpiresAt) : expiresAt;
}

export function stateOf(record: StoredRecord, now: number): RecordInspection['state'] {
  if (absentFrom(record) <= now) {
    return 'expired';
  }
  if (record.completedAt !== null) {
    return 'completed';
  }
  if (record.owner === NOBODY) {
    return 'released';
  }
  return record.lockExpiresAt > now ? 'in-flight' : 'abandoned';
}

/** Never changes a record that another attempt holds; see `IdempotencyStore.claim()`. */
export function claimBy(claim: LeaseClaim): RecordChange<LeaseClaimResult> {
  return (record, now) => {
    const state = record && stateOf(record, now);
    if (!record || state === 'expired') {
      return claimed({ ...blank(claim, now), ...heldBy(claim, now) });
    }
    if (record.owner === claim.owner) {
      return claimed(record);
    }
    const isFree = state === 'released' || (state === 'abandoned' && claim.takeOverAbandoned);
    return isFree && record.fingerprint.equals(claim.fingerprint)
      ? claimed({ ...record, attempt: record.attempt + 1, ...heldBy(claim, now) })
      : { record, result: existing(record, now)! };
  };
}

/** What a request that does not get the record is shown; `undefined` for one that counts as absent. */
export function existing(record: StoredRecord | undefined, now: number): ExistingRecord | undefined {
  const state = record && stateOf(record, now);
  if (!record || state === 'expired') {
    return undefined;
  }
  const { fingerprint, owner, response } = record;
  if (state === 'completed') {
    return { type: 'completed', fingerprint, owner, response: response! };
  }
  return { type: state === 'in-flight' ? state : 'abandoned', fingerprint, owner };
}

/** @throws RangeError for what is no length of time: by a lease of NaN, two would hold the record */
export function fromNow(now: number, milliseconds: number): number {
  if (milliseconds >= 0 && milliseconds < Infinity) {
    return now + milliseconds;
  }
  throw new RangeError(`A lease or a retention cannot last ${milliseconds} ms.`);
}

/** What operators see of it. */
export function inspection(record: StoredRecord, now: number): RecordInspection {
  const { scope, operation, key, attempt, owner, steps, response, completedAt } = record;
  return {
    state: stateOf(record, now),
    scope,
    operation,
    key,
    attempt,
    owner,
    createdAt: new Date(record.createdAt),
    lockExpiresAt: new Date(record.lockExpiresAt),
    completedAt: completedAt === null ? null : new Date(completedAt),
    expiresAt: new Date(record.expiresAt),
    status: response === null || response === 'unavailable' ? null : response.status,
    steps,
  };
}

function claimed(record: StoredRecord): Changed<LeaseClaimResult> {
  return { record, result: { type: 'claimed', attempt: record.attempt, steps: record.steps } };
}

function blank(
  { scope, operation, key, fingerprint }: LeaseClaim,
  now: number,
): Omit<StoredRecord, 'expiresAt'> {
  return {
    scope,
    operation,
    key,
    fingerprint,
    owner: NOBODY,
    attempt: 1,
    steps: null,
    createdAt: now,
    lockExpiresAt: now,
    completedAt: null,
    response: null,
  };
}

function heldBy({ owner, lockTtl, ttl }: LeaseClaim, now: number) {
  return { owner, lockExpiresAt: fromNow(now, lockTtl), expiresAt: fromNow(now, ttl) };
}
