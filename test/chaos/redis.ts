import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Redis } from 'ioredis';

import { DURABLE, NOT_PERSISTENT, RedisServer, redisVersion } from '../redis/redis-server.js';
import type { Guard } from './guard.js';
import { UsageError } from './options.js';
import { type RestartableServer, Restarts } from './restarts.js';

/** A Redis that can be killed, and comes back on the same port: with every write that it has answered, or with none. */
export class ChaosRedis implements RestartableServer {
  readonly name = 'Redis';
  private readonly restarts = new Restarts(async (downFor) => {
    await this.server.kill();
    await sleep(downFor);
    await this.server.launch();
  });

  private constructor(
    private readonly server: RedisServer,
    /** For people. */
    readonly description: string,
  ) {}

  /**
   * @param parent where its data get a folder
   * @throws UsageError where there is no redis-server
   */
  static async start(parent: string, guard: Guard, isPersistent: boolean): Promise<ChaosRedis> {
    const version = redisVersion();
    if (version === undefined) {
      throw new UsageError(
        '--store redis needs redis-server, which is not on this machine: apt-get install redis-server',
      );
    }
    const folder = join(parent, 'redis');
    await mkdir(folder);
    const flags = isPersistent ? DURABLE : NOT_PERSISTENT;
    const server = await RedisServer.start({ flags, folder, watch: (process) => guard.watch(process) });
    const keeps = isPersistent ? 'appendonly yes, appendfsync always' : 'nothing is kept on disk';
    return new ChaosRedis(server, `Redis ${version} (${keeps})`);
  }

  get port(): number {
    return this.server.port;
  }

  get url(): string {
    return this.server.url;
  }

  ask<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    return this.server.ask(work);
  }

  restart(downFor: number): Promise<void> {
    return this.restarts.add(downFor);
  }

  restarted(): Promise<void> {
    return this.restarts.over();
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}
