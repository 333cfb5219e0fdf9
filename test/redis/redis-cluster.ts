import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '../../src/embedded-postgres/index.js';
import { NOT_PERSISTENT, RedisServer } from './redis-server.js';

const SLOTS = 16_384;
const NODES = 3;

/** A cluster of three masters on the loopback interface. */
export class RedisCluster {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const busPorts: number[] = [];
    const nodes: RedisServer[] = [];
    for (let index = 0; index < NODES; index += 1) {
      // By default 10,000 above the other one, which may be more than there are.
      const busPort = await freePort();
      const flags = ['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`, ...NOT_PERSISTENT];
      nodes.push(await RedisServer.start({ flags }));
      busPorts.push(busPort);
    }
    const cluster = new RedisCluster(nodes);
    await cluster.join(busPorts);
    return cluster;
  }

  get addresses(): { host: string; port: number }[] {
    return this.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /** Keys of each node. */
  async sizes(): Promise<number[]> {
    return Promise.all(this.nodes.map((node) => node.ask((client) => client.dbsize())));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  private async join(busPorts: readonly number[]): Promise<void> {
    const share = Math.ceil(SLOTS / NODES);
    await Promise.all(
      this.nodes.map((node, index) =>
        node.ask(async (client) => {
          const last = Math.min((index + 1) * share, SLOTS) - 1;
          await client.call('CLUSTER', 'ADDSLOTSRANGE', index * share, last);
          const [first] = this.nodes;
          if (index > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', first!.port, busPorts[0]!);
        }),
      ),
    );
    await Promise.all(
      this.nodes.map((node) =>
        node.ask(async (client) => {
          while (!(await client.cluster('INFO')).includes('cluster_state:ok')) await sleep(50);
        }),
      ),
    );
  }
}
