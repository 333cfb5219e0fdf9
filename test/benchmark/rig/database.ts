import type { Client } from 'pg';

import { type BenchmarkPostgres, connect } from './postgres.js';

/** What no migration makes: the tables of the handler with an effect, and of the recipe. */
const TABLES = `
  CREATE TABLE orders (id bigserial PRIMARY KEY, item text NOT NULL, amount integer NOT NULL);
  CREATE TABLE idempotency_keys (
    id text PRIMARY KEY, fingerprint text NOT NULL, owner uuid NOT NULL, locked_until timestamptz NOT NULL,
    completed_at timestamptz, status smallint, response jsonb
  ) WITH (fillfactor = 70)`;

export interface Updates {
  all: number;
  heapOnly: number;
}

/** The database of one server, so that the counters of a database are those of a server. */
export class BenchmarkDatabase {
  private constructor(
    readonly name: string,
    readonly url: string,
    readonly client: Client,
  ) {}

  static async create(postgres: BenchmarkPostgres, name: string): Promise<BenchmarkDatabase> {
    const url = await postgres.createDatabase(name);
    const client = await connect(url);
    await client.query(TABLES);
    return new BenchmarkDatabase(name, url, client);
  }

  /** Empties all tables but the list of migrations. */
  async truncate(): Promise<void> {
    const { rows } = await this.client.query<{ table: string }>(
      `SELECT quote_ident(tablename) AS table FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'`,
    );
    await this.client.query(`TRUNCATE ${rows.map(({ table }) => table).join()}`);
  }

  /** Names of the columns that can be written. */
  async columnsOf(table: string): Promise<string[]> {
    const { rows } = await this.client.query<{ name: string }>(
      `SELECT quote_ident(column_name) AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = '${table}' AND is_generated = 'NEVER'`,
    );
    return rows.map(({ name }) => name);
  }

  async count(table: string): Promise<number> {
    const { rows } = await this.client.query<{ rows: number }>(
      `SELECT count(*)::float8 AS rows FROM ${table}`,
    );
    return rows[0]!.rows;
  }

  /** So far, when every session has reported; this one does so at once. */
  async updates(): Promise<Updates> {
    const { rows } = await this.client.query<Updates>(
      `SELECT coalesce(sum(n_tup_upd), 0)::float8 AS all, coalesce(sum(n_tup_hot_upd), 0)::float8 AS "heapOnly",
         pg_stat_force_next_flush()
       FROM pg_stat_user_tables`,
    );
    return rows[0]!;
  }

  close(): Promise<void> {
    return this.client.end();
  }
}
