import type { RecordTable } from './record-table.js';

/**
 * Removes one batch of expired records, oldest first, if no other instance is at it. Small batches, since one
 * DELETE of everything would meet a statement time-out and never succeed.
 *
 * The rows are locked before they are judged a second time by the DELETE: an expired record may be taken anew
 * in between, and a live claim must never go. `now()` can use the index, which `clock_timestamp()` cannot.
 * $1 batch size, $2 advisory lock
 */
export function purgeBatch({ name, column: c }: RecordTable): string {
  const isExpired = `${c.expiresAt} <= now() AND (${c.completedAt} IS NOT NULL OR ${c.lockExpiresAt} <= now())`;
  return (
    `WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock($2::bigint) AS mine), ` +
    `doomed AS MATERIALIZED (SELECT ${c.id} FROM ${name} WHERE (SELECT mine FROM turn) ` +
    `AND ${c.purgeAt} <= now() AND ${isExpired} ORDER BY ${c.purgeAt} LIMIT $1 FOR UPDATE SKIP LOCKED) ` +
    `DELETE FROM ${name} WHERE ${c.id} IN (SELECT ${c.id} FROM doomed) AND ${isExpired}`
  );
}
