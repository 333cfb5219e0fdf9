import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { Guard } from '../../chaos/guard.js';
import { freePort } from '../../../src/embedded-postgres/index.js';

const START_TIMEOUT_MS = 10_000;

/** A Redis of this run alone, which keeps everything in memory and nothing on disk. */
export class BenchmarkRedis {
  private constructor(
    readonly url: string,
    readonly version: string,
    readonly pid: number,
    private readonly socket: Socket,
  ) {}

  /** @returns why there is none, where the machine has no `redis-server` */
  static async start(folder: string, guard: Guard): Promise<BenchmarkRedis | string> {
    const version = await promisify(execFile)('redis-server', ['--version']).then(
      ({ stdout }) => / v=(\S+)/.exec(stdout)?.[1],
      () => undefined,
    );
    if (version === undefined) return 'there is no redis-server on this machine';
    const port = await freePort();
    const flags = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const child = spawn('redis-server', [...flags, '--dir', folder], { stdio: 'ignore', detached: true });
    guard.watch(child);
    const socket = await connectTo(port);
    return new BenchmarkRedis(`redis://127.0.0.1:${port}`, version, child.pid!, socket);
  }

  async clear(): Promise<void> {
    await this.command('FLUSHALL');
  }

  /** Keys that it has. */
  async count(): Promise<number> {
    return Number((await this.command('DBSIZE')).slice(1));
  }

  /** For commands whose answer is one line. */
  private async command(command: string): Promise<string> {
    this.socket.write(`${command}\r\n`);
    const [answer] = (await once(this.socket, 'data')) as [Buffer];
    return answer.toString().trim();
  }
}

async function connectTo(port: number): Promise<Socket> {
  const begin = Date.now();
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.unref();
      return socket.on('error', () => undefined);
    } catch (cause) {
      if (Date.now() - begin > START_TIMEOUT_MS) throw new Error('Redis does not start.', { cause });
      await sleep(100);
    }
  }
}
