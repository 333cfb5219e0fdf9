import pg from 'pg';
import type { RecordedResponse } from '../engine/stored-response.js';
import type { LeaseHold } from '../store/idempotency-store.interface.js';
import type { TransactionClaim } from '../store/transaction-store.interface.js';
import { fromNow, isExpired, isNoShorter, lookUp, responseColumns } from './record-row.js';
import type { RecordTable } from './record-table.js';

/** Transaction-local, so it is gone when something else has ended the transaction. */
const MARKER = 'exactly_once.owner';

export type LockResult = 'claimed' | 'same-in-flight' | 'other-in-flight';

export interface TransactionSettings {
  readonly isolation: string;
  readonly backend: number;
}

/** What `begin()` tells beside the record. */
export interface TransactionStart extends TransactionSettings {
  readonly lock: LockResult;
}

/** A record that is there. */
export interface Found {
  readonly expired: boolean;
}

/** Names of the results of `begin()`, by position. */
export const BEGIN_RESULTS = { settings: 1, found: 2 } as const;

/**
 * Opens the transaction of an attempt, in one message: a lock that a function takes is taken after that
 * statement's snapshot, so the look-up must be a statement of its own, and a later one.
 *
 * The lock on (id, fingerprint) comes first, then the one on the id. Whoever fails at the first meets the
 * same request in flight; whoever fails at the second, another one.
 *
 * The look-up only asks whether there is a record: to describe the columns of one costs Postgres as much as to find it,
 * and nearly all keys are new.
 */
export function begin(table: RecordTable, claim: TransactionClaim): string {
  const { id, fingerprint, isolation, owner, transactionTimeout } = claim;
  return [
    isolation ? `BEGIN ISOLATION LEVEL ${isolation}` : 'BEGIN',
    `SELECT set_config('${MARKER}', ${text(owner)}, true), ` +
      `set_config('idle_in_transaction_session_timeout', '${transactionTimeout}', true), ` +
      `current_setting('transaction_isolation') AS isolation, pg_backend_pid() AS backend, ` +
      `CASE WHEN NOT pg_try_advisory_xact_lock(${lockKey(fingerprint, id)}) THEN 'same-in-flight' ` +
      `WHEN NOT pg_try_advisory_xact_lock(${lockKey(id)}) THEN 'other-in-flight' ELSE 'claimed' END AS lock`,
    `SELECT ${isExpired(table)} AS expired FROM ${table.name} WHERE ${table.column.id} = ${bytes(id)}`,
  ].join('; ');
}

/** Gives up what `begin()` has begun, for a record that was there. The first result is the record. */
export function lookUpAndRollBack(table: RecordTable, id: Buffer): string {
  return `${lookUp(table, bytes(id))}; ROLLBACK`;
}

/**
 * Removes a record whose retention is over. Under the locks, but a claim in `lease` mode does not know them, and may have
 * begun the record anew: then it stays, and this attempt loses to it.
 */
export function removeExpired(table: RecordTable, id: Buffer): string {
  return `DELETE FROM ${table.name} WHERE ${table.column.id} = ${bytes(id)} AND ${isExpired(table)}`;
}

/** Opens the transaction of a step, which needs no locks: the lease is its claim. */
export function beginStep(transactionTimeout: number): string {
  return (
    `BEGIN; SELECT set_config('idle_in_transaction_session_timeout', '${transactionTimeout}', true), ` +
    `current_setting('transaction_isolation') AS isolation, pg_backend_pid() AS backend`
  );
}

/** Notes the steps and commits, in one message. Where the lease is lost, the division by zero rolls the work back. */
export function recordStepsAndCommit(table: RecordTable, { id, owner }: LeaseHold, steps: string): string {
  const { name, column: c } = table;
  return (
    `WITH noted AS (UPDATE ${name} SET ${c.steps} = ${text(steps)} WHERE ${c.id} = ${bytes(id)} ` +
    `AND ${c.owner} = ${text(owner)} AND ${c.completedAt} IS NULL AND ${isNoShorter(table, text(steps))} RETURNING 1) ` +
    `SELECT 1 / count(*) FROM noted; COMMIT`
  );
}

/**
 * Records the outcome and commits, in one message. A plain INSERT: an upsert that touches no row would commit
 * the effect without its record. When the marker is gone, `owner` is NULL and the INSERT raises.
 */
export function recordAndCommit(
  table: RecordTable,
  claim: TransactionClaim,
  response: RecordedResponse,
): string {
  const { name, column: c } = table;
  const [status, headers, body] = responseColumns(response);
  const expiry = fromNow(String(claim.ttl));
  return (
    `INSERT INTO ${name} (${c.id}, ${c.owner}, ${c.scope}, ${c.operation}, ${c.key}, ${c.fingerprint}, ` +
    `${c.attempt}, ${c.createdAt}, ${c.completedAt}, ${c.expiresAt}, ${c.purgeAt}, ` +
    `${c.status}, ${c.headers}, ${c.body}) VALUES (${bytes(claim.id)}, ` +
    `nullif(current_setting('${MARKER}', true), '')::uuid, ${text(claim.scope)}, ${text(claim.operation)}, ` +
    `${text(claim.key)}, ${bytes(claim.fingerprint)}, 1, now(), clock_timestamp(), ${expiry}, ${expiry}, ` +
    `${status ?? 'NULL'}, ${text(headers)}, ${bytes(body)}); COMMIT`
  );
}

/**
 * Waits until no transaction of this record is open, the one whose fate is asked for among them, then looks.
 * READ COMMITTED, or the look-up would have the snapshot from before the wait.
 */
export function lookUpWhenOver(table: RecordTable, id: Buffer): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${lockKey(id)}); ${lookUp(table, bytes(id))}; ROLLBACK`;
}

/** Position of the look-up in the results of `lookUpWhenOver()`. */
export const LOOK_UP_WHEN_OVER_RESULT = 2;

/**
 * Ends a backend that still holds the lock on a record: one whose client has gone notices that only after its
 * statement. The lock is compared, since the process id may be another backend's by now.
 */
export function endBackend(id: Buffer, backend: number): string {
  const key = BigInt.asUintN(64, id.readBigInt64BE(0));
  return (
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE pid = ${backend} AND locktype = 'advisory' AND granted ` +
    `AND classid = ${key >> 32n} AND objid = ${key & 0xffffffffn} AND objsubid = 1`
  );
}

/** 64 bits of a hash: the application's own advisory locks are small numbers as a rule. */
function lockKey(hash: Buffer, mixedWith?: Buffer): string {
  const key = hash.readBigInt64BE(0) ^ (mixedWith?.readBigInt64BE(8) ?? 0n);
  return `'${key}'::bigint`;
}

function text(value: string | null): string {
  return value === null ? 'NULL' : pg.escapeLiteral(value);
}

/** With an escape, so that it means the same whatever `standard_conforming_strings` is. */
function bytes(value: Buffer | null): string {
  return value === null ? 'NULL' : `E'\\\\x${value.toString('hex')}'`;
}
