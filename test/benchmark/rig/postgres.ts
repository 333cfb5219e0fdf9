import { Client } from 'pg';

import { DurablePostgres } from '../../chaos/postgres.js';

/**
 * Beside those that make it durable. A server of this size would have the memory; checkpoints are rarer than
 * by default so that none falls into the slice of one variant alone.
 */
export const SETTINGS = {
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  shared_preload_libraries: 'pg_stat_statements',
} as const;

/** What a durable commit depends on. */
const DURABILITY = ['fsync', 'synchronous_commit', 'full_page_writes'] as const;

/** The embedded Postgres, durable, with statistics of statements. */
export class BenchmarkPostgres {
  private constructor(
    private readonly server: DurablePostgres,
    /** Connected to a database that is not measured. */
    readonly admin: Client,
  ) {}

  /** @param folder empty; for its data */
  static async start(folder: string): Promise<BenchmarkPostgres> {
    const server = await DurablePostgres.start(folder);
    const first = await connect(server.url('postgres'));
    for (const [name, value] of Object.entries(SETTINGS)) {
      await first.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    }
    await first.end();
    await server.restart(0);
    const admin = await connect(server.url('postgres'));
    await admin.query('CREATE EXTENSION pg_stat_statements');
    return new BenchmarkPostgres(server, admin);
  }

  createDatabase(name: string): Promise<string> {
    return this.server.createDatabase(name);
  }

  /** As the server has them, not as they were meant to be. */
  async durability(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of DURABILITY) found[name] = await this.show(name);
    return found;
  }

  async show(setting: string): Promise<string> {
    const { rows } = await this.admin.query(`SHOW ${setting}`);
    return Object.values(rows[0] as Record<string, string>)[0]!;
  }

  /** Process id of the server, whose children do the work. */
  async pid(): Promise<number> {
    const { rows } = await this.admin.query(`SELECT pg_read_file('postmaster.pid') AS file`);
    return Number.parseInt((rows[0] as { file: string }).file, 10);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

/** A connection that survives that its server goes away. */
export async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString, application_name: 'benchmark' });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
