import type { DataSource } from 'typeorm';

/** Whoever writes or locks a record leaves another version of its row. */
export function rowVersions(dataSource: DataSource): Promise<unknown[]> {
  return dataSource.query('SELECT ctid, xmin, xmax FROM idempotency_records ORDER BY ctid');
}
