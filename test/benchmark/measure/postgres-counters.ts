import type { Client } from 'pg';

/** Since the start of the server. */
export interface PostgresCounters {
  statements: number;
  pages: number;
  commits: number;
  walSyncs: number;
  walBytes: number;
}

/** Of one database, and of the write-ahead log, which all share. $1 the database */
const READ = `
  SELECT coalesce(s.statements, 0) AS statements, coalesce(s.pages, 0) AS pages,
    d.xact_commit::float8 AS commits,
    (SELECT sum(fsyncs)::float8 FROM pg_stat_io WHERE object = 'wal') AS "walSyncs",
    (pg_current_wal_insert_lsn() - '0/0')::float8 AS "walBytes"
  FROM pg_stat_database d, LATERAL (
    SELECT sum(calls)::float8 AS statements, sum(shared_blks_hit + shared_blks_read)::float8 AS pages
    FROM pg_stat_statements WHERE dbid = d.datid
  ) s
  WHERE d.datname = $1`;

/** @param admin a connection to another database, so that it does not count itself */
export async function readPostgresCounters(admin: Client, database: string): Promise<PostgresCounters> {
  const { rows } = await admin.query<PostgresCounters>(READ, [database]);
  return rows[0]!;
}
