import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { openCluster, type Cluster } from '../../src/embedded-postgres/cluster.js';
import { run } from '../../src/embedded-postgres/commands.js';
import { databaseUrl } from '../../src/embedded-postgres/connection.js';
import { prepareHomeIn } from '../../src/embedded-postgres/index.js';
import { ensureServer } from '../../src/embedded-postgres/server.js';
import { PROJECT } from './project.js';
import { type RestartableServer, Restarts } from './restarts.js';

/** A commit must survive a server that is stopped in the middle of everything. */
const SETTINGS = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'max_connections=200'];

/** A Postgres with durable settings that can be stopped as by a crash, and comes back on the same port. */
export class DurablePostgres implements RestartableServer {
  readonly name = 'Postgres';
  /** In immediate mode nothing is written out, so the next start recovers from the log. */
  private readonly restarts = new Restarts(async (downFor) => {
    await this.stop();
    await sleep(downFor);
    await ensureServer(this.cluster, SETTINGS, this.port);
  });

  private constructor(
    private readonly cluster: Cluster,
    readonly port: number,
  ) {}

  /** @param folder empty; for its data and its log */
  static async start(folder: string): Promise<DurablePostgres> {
    const cluster = await openCluster(await prepareHomeIn(folder, PROJECT), true);
    return new DurablePostgres(cluster, await ensureServer(cluster, SETTINGS));
  }

  url(database: string): string {
    return databaseUrl(this.cluster, this.port, database);
  }

  /** Creates an empty database. */
  async createDatabase(name: string): Promise<string> {
    await withClient(this.url('postgres'), (client) => client.query(`CREATE DATABASE "${name}"`));
    return this.url(name);
  }

  restart(downFor: number): Promise<void> {
    return this.restarts.add(downFor);
  }

  restarted(): Promise<void> {
    return this.restarts.over();
  }

  async stop(): Promise<void> {
    const { binaries, data, user } = this.cluster;
    await run(join(binaries, 'bin/pg_ctl'), ['stop', '-w', '-s', '-m', 'immediate', '-D', data], user);
  }
}

/** Works on a connection of its own, which is closed at the end. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'chaos harness' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
