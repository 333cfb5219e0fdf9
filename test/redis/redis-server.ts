import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { freePort } from '../../src/embedded-postgres/index.js';
import { guardServer } from '../support/guard-server.js';
import { OwnServer } from '../support/own-server.js';

const START_TIMEOUT_MS = 10_000;

/** Nothing on disk, or every write before its answer. */
export const NOT_PERSISTENT = ['--save', '', '--appendonly', 'no'];
export const DURABLE = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];

/** The version of `redis-server` on this machine; undefined where there is none. */
export function redisVersion(): string | undefined {
  try {
    return / v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))?.[1];
  } catch {
    return undefined;
  }
}

export interface RedisServerOptions {
  /** Of `redis-server`. @default NOT_PERSISTENT */
  flags?: string[];
  /** A file of settings, which flags add to. */
  file?: string;
  /** For what it keeps on disk. @default a temporary one, which is removed when it stops */
  folder?: string;
  /** Told of every process that is started, to end it whatever happens. @default it ends with this process */
  watch?: (process: ChildProcess) => void;
}

/** A `redis-server` of its own on the loopback interface. */
export class RedisServer extends OwnServer {
  private constructor(
    readonly port: number,
    readonly folder: string,
    private readonly options: RedisServerOptions,
  ) {
    super();
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'exactly-once-redis-')));
    const server = new RedisServer(await freePort(), folder, options);
    await server.launch();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Asks it on a connection of its own. */
  async ask<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    // ioredis would wait for two seconds where a connection was refused.
    const client = new Redis(this.port, '127.0.0.1', {
      retryStrategy: null,
      lazyConnect: true,
      disconnectTimeout: 100,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } finally {
      client.disconnect();
    }
  }

  /** Starts it again, on the same port and with what it had on disk. */
  async launch(): Promise<void> {
    const { file, flags = NOT_PERSISTENT, watch = guardServer } = this.options;
    const base = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--dir', this.folder];
    this.child = spawn('redis-server', [...(file ? [file] : []), ...base, ...flags], {
      stdio: 'ignore',
      detached: true,
    });
    watch(this.child);
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await this.answers())) {
      if (Date.now() > deadline || this.child.exitCode !== null) {
        throw new Error(`redis-server does not start on port ${this.port}.`);
      }
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    if (this.options.folder === undefined) await rm(this.folder, { recursive: true, force: true });
  }

  /** Whether it serves requests, and has read what it had on disk. */
  private answers(): Promise<boolean> {
    return this.ask((client) => client.ping()).then(
      () => true,
      () => false,
    );
  }
}
