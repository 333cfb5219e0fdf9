import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Cluster } from './cluster.js';

/** What a running server writes into its data folder, and one that was killed leaves there. */
export interface Postmaster {
  pid: number;
  port: number;
  /** Whether it takes connections. */
  ready: boolean;
}

export function postmasterFile(cluster: Cluster): string {
  return join(cluster.data, 'postmaster.pid');
}

export async function readPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const content = await readFile(postmasterFile(cluster), 'utf8').catch(() => undefined);
  if (content === undefined) return undefined;
  const lines = content.split('\n').map((line) => line.trim());
  return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7] === 'ready' };
}
