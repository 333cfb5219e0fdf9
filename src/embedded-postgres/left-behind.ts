import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Cluster } from './cluster.js';
import { answersFor } from './connection.js';
import { postmasterFile, readPostmaster } from './postmaster-file.js';

/** How long a server that is still recovering, or going down, gets before it is taken for gone. */
const PATIENCE_MS = 30_000;

/** How long a server that has said it is ready may refuse connections: it just said so, or it is not there. */
const REFUSAL_MS = 2_000;

/**
 * The port of a server that runs on this data folder already. It outlives a SIGKILL of whoever started it.
 *
 * The file that names it outlives a SIGKILL of the server, and its process id may by now be any process of
 * the same user, in which case Postgres would refuse to start: such a file is removed. Should a server run
 * all the same, Postgres still finds its shared memory and refuses.
 */
export async function findLeftBehind(cluster: Cluster): Promise<number | undefined> {
  const begin = Date.now();
  for (;;) {
    const found = await readPostmaster(cluster);
    if (!found || !isAlive(found.pid)) return undefined;

    const answer = await answersFor(cluster, found.port);
    if (answer === 'ours') return found.port;
    const patience = answer === 'busy' || !found.ready ? PATIENCE_MS : REFUSAL_MS;
    if (answer === 'foreign' || Date.now() - begin > patience) {
      await rm(postmasterFile(cluster), { force: true });
      return undefined;
    }
    await sleep(100);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
