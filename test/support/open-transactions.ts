import type { DataSource } from 'typeorm';

/** How many connections to this database stand in a transaction that nobody works on. */
export async function openTransactions(dataSource: DataSource): Promise<number> {
  const [row] = await dataSource.query<[{ open: number }]>(
    `SELECT count(*)::int AS open FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
  );
  return row.open;
}
