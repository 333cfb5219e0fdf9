import { fromNow, lookUpColumns } from './record-row.js';
import type { RecordTable } from './record-table.js';

/**
 * The SQL of what concurrent requests do together: each statement takes one array for each parameter. Completions and
 * renewals answer with places in them, from 1 on, since an id would be 68 characters to write and to read.
 */
export type LeaseBatchStatements = ReturnType<typeof leaseBatchStatements>;

export function leaseBatchStatements(table: RecordTable) {
  const { name, column: c } = table;
  /**
   * Rows are locked in the order of their ids: the order of the input is not that of the plan, and batches of two
   * processes would deadlock. A row that somebody else has locked is left to the statement for a single row, so
   * that its neighbours need not wait. MATERIALIZED, or each row would be locked anew for each one.
   */
  const locked =
    `WITH locked AS MATERIALIZED (SELECT ${c.id} AS id FROM ${name} WHERE ${c.id} = ANY ($1) ` +
    `ORDER BY ${c.id} FOR UPDATE SKIP LOCKED) `;
  const isHeld = `t.${c.id} = d.id AND t.${c.id} = locked.id AND t.${c.owner} = d.owner AND t.${c.completedAt} IS NULL`;
  const place = `d.place::int4 AS place`;
  /** A statement that had to wait for a lock of the table claims nothing when nobody waits for it any more. */
  const isInTime = `clock_timestamp() < statement_timestamp() + $9::float8 * interval '1 millisecond'`;
  return {
    /**
     * Claims the records that do not exist, and looks up those that do. Of concurrent claims one inserts. DO NOTHING,
     * since a DO UPDATE that loses locks the row and writes WAL; for a record that is there it writes nothing. The look-up
     * sees the snapshot from the beginning of the statement: a record that came into being meanwhile is in neither result,
     * and has to be looked up by another statement; one that vanished may be in both, and is won.
     * $1 ids, $2 owners, $3 scopes, $4 operations, $5 keys, $6 fingerprints, $7 lockTtls, $8 ttls, $9 time limit
     */
    claim:
      `WITH won AS (INSERT INTO ${name} (${c.id}, ${c.owner}, ${c.scope}, ${c.operation}, ${c.key}, ${c.fingerprint}, ` +
      `${c.attempt}, ${c.createdAt}, ${c.lockExpiresAt}, ${c.expiresAt}, ${c.purgeAt}) ` +
      `SELECT id, owner, scope, operation, key, fingerprint, 1, clock_timestamp(), ${fromNow('lock_ttl')}, ` +
      `${fromNow('ttl')}, ${fromNow('ttl')} FROM unnest($1::bytea[], $2::uuid[], $3::text[], $4::text[], $5::text[], ` +
      `$6::bytea[], $7::float8[], $8::float8[]) AS d(id, owner, scope, operation, key, fingerprint, lock_ttl, ttl) ` +
      `WHERE ${isInTime} ORDER BY id ON CONFLICT (${c.id}) DO NOTHING RETURNING ${c.id} AS id, ${c.owner} AS owner) ` +
      `SELECT owner AS winner, id, NULL AS fingerprint, NULL AS owner, NULL AS attempt, NULL AS steps, ` +
      `NULL AS status, NULL AS headers, NULL AS body, NULL AS state FROM won ` +
      `UNION ALL SELECT NULL, ${c.id}, ${lookUpColumns(table)} FROM ${name} WHERE ${c.id} = ANY ($1)`,

    /** As `complete` for a single row. $1 ids, $2 owners, $3 ttls, $4 statuses, $5 headers, $6 bodies */
    complete:
      locked +
      `UPDATE ${name} AS t SET ${c.completedAt} = clock_timestamp(), ${c.expiresAt} = ${fromNow('d.ttl')}, ` +
      `${c.status} = d.status, ${c.headers} = d.headers, ${c.body} = d.body ` +
      `FROM unnest($1::bytea[], $2::uuid[], $3::float8[], $4::smallint[], $5::text[], $6::bytea[]) ` +
      `WITH ORDINALITY AS d(id, owner, ttl, status, headers, body, place), locked WHERE ${isHeld} RETURNING ${place}`,

    /** As `renew` for a single row. $1 ids, $2 owners, $3 lockTtls */
    renew:
      locked +
      `UPDATE ${name} AS t SET ${c.lockExpiresAt} = ${fromNow('d.lock_ttl')} ` +
      `FROM unnest($1::bytea[], $2::uuid[], $3::float8[]) WITH ORDINALITY AS d(id, owner, lock_ttl, place), locked ` +
      `WHERE ${isHeld} RETURNING ${place}`,
  };
}
