// #region example
import { AtomicRecordStore, type RecordChange, type StoredRecord, withTimeLimit } from '@exactly-once/nestjs';
import { deserialize, serialize } from 'node:v8';
import type { Pool } from 'pg';

/** A version is never used twice: a record that was removed and made anew differs from the one before. */
export const TABLE =
  'CREATE TABLE IF NOT EXISTS records (id bytea PRIMARY KEY, version bigserial, record bytea, gone_at float8)';

const NOW = 'extract(epoch FROM clock_timestamp())::float8 * 1000';

/** Records as rows of any database that can compare and set; here with plain `pg`. */
export class TableRecordStore extends AtomicRecordStore {
  constructor(private readonly pool: Pool) {
    super();
  }

  protected async change<T>(id: Buffer, change: RecordChange<T>, timeLimit: number): Promise<T> {
    const end = performance.now() + timeLimit;
    for (;;) {
      const left = end - performance.now();
      const changed = await withTimeLimit('A change of a record', left, this.tryChange(id, change));
      if (changed) return changed.result;
    }
  }

  /** Gives `undefined` where another process has changed the record in between. */
  private async tryChange<T>(id: Buffer, change: RecordChange<T>): Promise<{ result: T } | undefined> {
    // The record and the time of the database's clock, also where there is no record.
    const look = `SELECT ${NOW} AS now, version, record FROM (SELECT) AS one LEFT JOIN records ON id = $1`;
    const { now, version, record: bytes } = (await this.pool.query(look, [id])).rows[0];
    const found: StoredRecord | undefined = bytes ? deserialize(bytes) : undefined;
    const { record, result } = change(found, now);
    const isDone = record === found || (await this.replace(id, version, record));
    return isDone ? { result } : undefined;
  }

  private async replace(id: Buffer, version: string | null, record?: StoredRecord): Promise<boolean> {
    if (!record) return this.write('DELETE FROM records WHERE id = $1 AND version = $2', [id, version]);
    const content = [id, serialize(record), Math.max(record.expiresAt, record.lockExpiresAt)];
    if (version === null) {
      const insert = 'INSERT INTO records (id, record, gone_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
      return this.write(insert, content);
    }
    const set =
      'UPDATE records SET version = DEFAULT, record = $2, gone_at = $3 WHERE id = $1 AND version = $4';
    return this.write(set, [...content, version]);
  }

  private async write(statement: string, values: unknown[]): Promise<boolean> {
    return (await this.pool.query(statement, values)).rowCount === 1;
  }

  async purge(limit: number, timeLimit: number): Promise<number> {
    const gone = `SELECT id FROM records WHERE gone_at <= ${NOW} LIMIT $1 FOR UPDATE SKIP LOCKED`;
    const purged = this.pool.query(`DELETE FROM records WHERE id IN (${gone})`, [limit]);
    return (await withTimeLimit('A purge', timeLimit, purged)).rowCount ?? 0;
  }
}
// #endregion
