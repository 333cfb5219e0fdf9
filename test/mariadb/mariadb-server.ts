import { mariaDbIdempotencyMigrations } from '@exactly-once/nestjs';
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';

import { freePort } from '../../src/embedded-postgres/index.js';
import { eventually } from '../support/eventually.js';
import { guardServer } from '../support/guard-server.js';
import { OwnServer } from '../support/own-server.js';

const START_TIMEOUT_MS = 20_000;
const DATABASE = 'test';

/** Where Debian has it, which is in the path of root alone. */
const ENV = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** The version of `mariadbd` on this machine; undefined where there is none. */
export function mariaDbVersion(): string | undefined {
  try {
    const answer = execFileSync('mariadbd', ['--no-defaults', '--version'], { encoding: 'utf8', env: ENV });
    return /Ver (\S+?)-MariaDB/.exec(answer)?.[1];
  } catch {
    return undefined;
  }
}

/** Whether a packet to the server is a statement of the store that writes. */
export function isWrite(packet: Buffer): boolean {
  return / FOR (INSERT|UPDATE|DELETE) /.test(packet.toString('latin1', 0, 100));
}

/** A `mariadbd` of its own on the loopback interface, with an empty database. */
export class MariaDbServer extends OwnServer {
  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly flags: readonly string[],
  ) {
    super();
  }

  /** @param flags of `mariadbd` */
  static async start(...flags: string[]): Promise<MariaDbServer> {
    const folder = await mkdtemp(join(tmpdir(), 'exactly-once-mariadb-'));
    await mkdir(join(folder, 'data'));
    const server = new MariaDbServer(await freePort(), folder, flags);
    await server.launch();
    // Of files that it has made and not yet written, no crash is recovered.
    await server.ask('SET GLOBAL innodb_log_checkpoint_now = 1');
    return server;
  }

  /** What leads to it; with the table of the records, unless `migrations` says otherwise. */
  async connect(options: object = {}): Promise<DataSource> {
    return new DataSource(this.options(options)).initialize();
  }

  /** Of a DataSource. */
  options(options: object = {}): DataSourceOptions {
    return {
      type: 'mariadb',
      host: '127.0.0.1',
      port: this.port,
      username: 'root',
      database: DATABASE,
      migrations: mariaDbIdempotencyMigrations,
      migrationsRun: true,
      ...options,
    } as DataSourceOptions;
  }

  /** Starts it again, on the same port and with what it had on disk. */
  async launch(): Promise<void> {
    const base = [
      '--no-defaults',
      `--port=${this.port}`,
      '--bind-address=127.0.0.1',
      `--datadir=${join(this.folder, 'data')}`,
      `--socket=${join(this.folder, 'socket')}`,
      // A server that starts removes what others have in theirs.
      `--tmpdir=${this.folder}`,
      // Without system tables, which take longer to make than a suite to run.
      '--skip-grant-tables',
      '--skip-networking=0',
      // What was answered outlives the process and not the machine, which saves most of the time.
      '--innodb-flush-log-at-trx-commit=2',
      '--skip-innodb-doublewrite',
      '--innodb-log-file-size=8M',
      '--innodb-buffer-pool-size=64M',
    ];
    const user = process.getuid?.() === 0 ? ['--user=root'] : [];
    this.child = spawn('mariadbd', [...base, ...user, ...this.flags], {
      env: ENV,
      stdio: 'ignore',
      detached: true,
    });
    guardServer(this.child);
    await eventually(() => this.ask(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`), START_TIMEOUT_MS);
  }

  /** Asks it on a connection of its own. */
  async ask<T>(sql: string): Promise<T> {
    const dataSource = await this.connect({ database: undefined, migrations: [], migrationsRun: false });
    try {
      return await dataSource.query(sql);
    } finally {
      await dataSource.destroy();
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
