import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

import type { ReportedConnections } from './answers.js';

/** A session without statistics of a table reports nothing, not even its commits; so this looks into one. */
const REPORT = `
  SELECT pg_stat_force_next_flush(), current_setting('synchronous_commit') AS setting FROM pg_namespace LIMIT 1`;

/** Statistics of a session reach the views when it reports them; only the session itself can be made to. */
export async function reportStatistics(dataSource: DataSource): Promise<ReportedConnections> {
  const pool = (dataSource.driver as PostgresDriver).master as Pool;
  // All of them at once, or one would be asked twice.
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  try {
    const settings = await Promise.all(clients.map(report));
    return { count: clients.length, synchronousCommit: [...new Set(settings)] };
  } finally {
    clients.forEach((client) => client.release());
  }
}

async function report(client: PoolClient): Promise<string> {
  const { rows } = await client.query<{ setting: string }>(REPORT);
  return rows[0]!.setting;
}
