import type { Client } from 'pg';

import { openCluster, type Cluster } from './cluster.js';
import { connect, databaseUrl } from './connection.js';
import { prepareHome, type Home } from './home.js';
import { ensureServer, stopServer } from './server.js';

export interface EmbeddedPostgresOptions {
  /** Root of the project: its `.data/` keeps the data between runs. */
  projectFolder: string;
  /** Another home than the project's, such as the one of a test run. */
  home?: Home;
  /** Whether a commit survives a power cut. `false` is for tests. @default true */
  durable?: boolean;
  /** Further `name=value` settings of the server. */
  settings?: string[];
  /** Called when the server is lost and cannot be started again. */
  onLost?: (cause: unknown) => void;
}

/** Any number; it is known to nobody else, since the server is ours. */
const IN_USE_LOCK = 7_312_541;

const JOIN_ATTEMPTS = 3;

const FAST_SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * A Postgres server of our own. Every process that uses it holds one connection with a shared lock, and
 * the one that stops it makes sure that it is the last. A process that was killed has lost its connection,
 * and with it its lock, so nothing needs to be cleaned up after it.
 */
export class EmbeddedPostgres {
  private connection?: Client;
  private port?: number;
  private stopping = false;
  private recovery: Promise<void> = Promise.resolve();

  private constructor(
    readonly cluster: Cluster,
    private readonly settings: string[],
    private readonly onLost: (cause: unknown) => void,
  ) {}

  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const { durable = true, settings = [], onLost = () => undefined } = options;
    const home = options.home ?? (await prepareHome(options.projectFolder));
    const cluster = await openCluster(home, durable);
    const allSettings = durable ? settings : [...FAST_SETTINGS, ...settings];
    const server = new EmbeddedPostgres(cluster, allSettings, onLost);
    await server.join();
    return server;
  }

  /** Address of one of its databases, with user and password. */
  url(database = 'postgres'): string {
    return databaseUrl(this.cluster, this.port!, database);
  }

  /** Creates the database unless it is there. */
  async ensureDatabase(name: string): Promise<string> {
    const { rowCount } = await this.connection!.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await this.connection!.query(`CREATE DATABASE "${name}"`);
    return this.url(name);
  }

  /** Stops the server, unless another process uses it too. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.recovery;
    const ask = 'SELECT pg_try_advisory_lock($1) AS last';
    const answer = await this.connection!.query<{ last: boolean }>(ask, [IN_USE_LOCK]).catch(() => undefined);
    // Keeps its connection until then: nobody gets the lock of a server that is about to stop.
    if (answer?.rows[0]?.last) await stopServer(this.cluster);
    // A server that cannot be asked has just been lost.
    if (!answer) await stopServer(this.cluster).catch(() => undefined);
    await this.connection!.end().catch(() => undefined);
  }

  /** When the server that was found is just being stopped by the last of its users, there is a next attempt. */
  private async join(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      // Once there is a port, the clients know no other.
      this.port = await ensureServer(this.cluster, this.settings, this.port);
      try {
        return await this.hold(this.port);
      } catch (cause) {
        if (attempt === JOIN_ATTEMPTS) throw cause;
      }
    }
  }

  private async hold(port: number): Promise<void> {
    this.connection = await connect(this.cluster, port);
    await this.connection.query('SELECT pg_advisory_lock_shared($1)', [IN_USE_LOCK]);
    this.connection.once('end', () => {
      if (!this.stopping) this.recovery = this.join().catch(this.onLost);
    });
  }
}
