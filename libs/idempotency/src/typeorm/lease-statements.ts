import { purgeBatch } from './purge.statement.js';
import { fromNow, isExpired, isNoShorter, lookUp, stateOf } from './record-row.js';
import type { RecordTable } from './record-table.js';
import { NOBODY } from '../store/nobody.js';

/** The SQL of the lease store, one statement each. */
export type LeaseStatements = ReturnType<typeof leaseStatements>;

export function leaseStatements(table: RecordTable) {
  const { name, column: c } = table;
  const isHeld = `${c.id} = $1 AND ${c.owner} = $2 AND ${c.completedAt} IS NULL`;
  return {
    /** $1 id */
    lookUp: lookUp(table, '$1'),

    /**
     * Begins a record anew whose retention is over. A loser waits for the winner's row lock, finds the
     * condition false, and updates nothing. $1 id, $2 owner, $3 fingerprint, $4 lockTtl, $5 ttl
     */
    restart:
      `UPDATE ${name} SET ${c.owner} = $2, ${c.fingerprint} = $3, ${c.attempt} = 1, ` +
      `${c.createdAt} = clock_timestamp(), ${c.lockExpiresAt} = ${fromNow('$4')}, ${c.completedAt} = NULL, ` +
      `${c.expiresAt} = ${fromNow('$5')}, ${c.purgeAt} = ${fromNow('$5')}, ` +
      `${c.steps} = NULL, ${c.status} = NULL, ${c.headers} = NULL, ${c.body} = NULL ` +
      `WHERE ${c.id} = $1 AND ${c.owner} <> $2 AND ${isExpired(table)} RETURNING ${c.attempt} AS attempt, ${c.steps} AS steps`,

    /**
     * Goes on where a released attempt stopped or, if $6, takes an abandoned one over. Which of the two it is, and the
     * lease, are judged again here: it may have changed hands since the look-up, also to an earlier call of this claim.
     * $1 id, $2 owner, $3 fingerprint, $4 lockTtl, $5 ttl, $6 also from abandoned attempts
     */
    takeOver:
      `UPDATE ${name} SET ${c.owner} = $2, ${c.attempt} = ${c.attempt} + 1, ${c.lockExpiresAt} = ${fromNow('$4')}, ` +
      `${c.expiresAt} = ${fromNow('$5')} ` +
      `WHERE ${c.id} = $1 AND ${c.owner} <> $2 AND ${c.fingerprint} = $3 AND ${c.completedAt} IS NULL AND ${c.expiresAt} > clock_timestamp() ` +
      `AND (${c.owner} = '${NOBODY}' OR ($6 AND ${c.lockExpiresAt} <= clock_timestamp())) ` +
      `RETURNING ${c.attempt} AS attempt, ${c.steps} AS steps`,

    /**
     * Compares the owner, or a process that was stopped for longer than its lease would overwrite the result of
     * the one that took over. Touches no indexed column. $1 id, $2 owner, $3 ttl, $4 status, $5 headers, $6 body
     */
    complete:
      `UPDATE ${name} SET ${c.completedAt} = clock_timestamp(), ${c.expiresAt} = ${fromNow('$3')}, ` +
      `${c.status} = $4, ${c.headers} = $5, ${c.body} = $6 WHERE ${isHeld}`,

    /** Whether a completion whose answer was lost had arrived. $1 id, $2 owner */
    isCompletedBy: `SELECT 1 FROM ${name} WHERE ${c.id} = $1 AND ${c.owner} = $2 AND ${c.completedAt} IS NOT NULL`,

    /** Never frees what another owner has taken over. $1 id, $2 owner */
    release: `DELETE FROM ${name} WHERE ${isHeld} AND ${c.steps} IS NULL`,

    /**
     * With steps the record stays, or a retry would repeat them. Nobody owns it then, so that a renewal which arrives
     * late does not revive it. After `release` and not in one statement with it: both would be judged by one snapshot, and
     * a step that is just being recorded would be in neither half. $1 id, $2 owner
     */
    releaseWithSteps:
      `UPDATE ${name} SET ${c.owner} = '${NOBODY}', ${c.lockExpiresAt} = clock_timestamp() ` +
      `WHERE ${isHeld} AND ${c.steps} IS NOT NULL`,

    /**
     * A process that lost its lease must not tell the next attempt what is done, nor may an older text of the same one that
     * comes late. $1 id, $2 owner, $3 steps
     */
    recordSteps: `UPDATE ${name} SET ${c.steps} = $3 WHERE ${isHeld} AND ${isNoShorter(table, '$3')}`,

    /**
     * Waits for a transaction that is just writing the row, and reads it anew then. The steps must not be a condition:
     * it would be judged by the old version, and there would be nothing to wait for. $1 id, $2 owner
     */
    stepsWhenOver: `SELECT ${c.steps} AS steps FROM ${name} WHERE ${c.id} = $1 AND ${c.owner} = $2 FOR UPDATE`,

    /**
     * Frees the record of an attempt that died. Neither a live attempt nor a completed one matches. $1 id
     */
    releaseAbandoned: `DELETE FROM ${name} WHERE ${c.id} = $1 AND ${c.completedAt} IS NULL AND ${c.lockExpiresAt} <= clock_timestamp()`,

    /** What operators see. $1 id */
    inspect:
      `SELECT ${c.scope} AS scope, ${c.operation} AS operation, ${c.key} AS key, ${c.attempt} AS attempt, ` +
      `${c.owner} AS owner, ${c.createdAt} AS "createdAt", ${c.lockExpiresAt} AS "lockExpiresAt", ` +
      `${c.completedAt} AS "completedAt", ${c.expiresAt} AS "expiresAt", ${c.status} AS status, ` +
      `${c.steps} AS steps, ${stateOf(table)} AS state FROM ${name} WHERE ${c.id} = $1`,

    /** $1 batch size, $2 advisory lock */
    purge: purgeBatch(table),

    /** Never prolongs the lease of another owner. $1 id, $2 owner, $3 lockTtl */
    renew: `UPDATE ${name} SET ${c.lockExpiresAt} = ${fromNow('$3')} WHERE ${isHeld}`,
  };
}
