import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { DURABLE, RedisServer } from './redis-server.js';

const NAME = 'shop';

/** A master and its replica, watched by three Sentinels, on the loopback interface. */
export class WatchedRedis {
  private constructor(
    readonly master: RedisServer,
    readonly replica: RedisServer,
    private readonly sentinels: readonly RedisServer[],
  ) {}

  static async start(): Promise<WatchedRedis> {
    const master = await RedisServer.start({ flags: DURABLE });
    const replica = await RedisServer.start({
      flags: [...DURABLE, '--replicaof', `127.0.0.1 ${master.port}`, '--repl-diskless-sync-delay', '0'],
    });
    const sentinels = await Promise.all(Array.from({ length: 3 }, () => startSentinel(master.port)));
    const watched = new WatchedRedis(master, replica, sentinels);
    await watched.settled();
    return watched;
  }

  /** As ioredis takes it. */
  get connection() {
    return { name: NAME, sentinels: this.sentinels.map(({ port }) => ({ host: '127.0.0.1', port })) };
  }

  /** Whether the replica has become the master. */
  async isOver(): Promise<boolean> {
    return this.replica.ask(async (client) => (await client.role())[0] === 'master');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, this.replica, this.master].map((server) => server.stop()));
    await Promise.all(this.sentinels.map(({ folder }) => rm(folder, { recursive: true })));
  }

  /** The replica has everything, and each Sentinel knows it and the others. */
  private async settled(): Promise<void> {
    while (
      !(await this.replica.ask((client) => client.info('replication'))).includes('master_link_status:up')
    ) {
      await sleep(50);
    }
    while (!(await Promise.all(this.sentinels.map(knowsAll))).every(Boolean)) await sleep(100);
  }
}

/** The replica, and the other two. */
function knowsAll(sentinel: RedisServer): Promise<boolean> {
  return sentinel.ask(async (client) => {
    const master = (await client.call('SENTINEL', 'MASTER', NAME)) as string[];
    const field = (name: string) => master[master.indexOf(name) + 1];
    return field('num-slaves') === '1' && field('num-other-sentinels') === '2';
  });
}

/** It writes into its configuration, so it needs a file of its own. */
async function startSentinel(masterPort: number): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'exactly-once-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  await writeFile(
    file,
    [
      `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} 2`,
      `sentinel down-after-milliseconds ${NAME} 1000`,
      `sentinel failover-timeout ${NAME} 5000`,
    ].join('\n'),
  );
  return RedisServer.start({ folder, file, flags: ['--sentinel'] });
}
