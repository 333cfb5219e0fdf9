import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Cluster } from './cluster.js';
import { run } from './commands.js';
import { freePort } from './free-port.js';
import { findLeftBehind } from './left-behind.js';
import { readPostmaster } from './postmaster-file.js';

/** A port may be taken meanwhile, and what a killed server leaves behind takes a moment to go. */
const ATTEMPTS = 5;

const STOP_TIMEOUT_MS = 30_000;

const COMMON_SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories='];

/** Adopts the server that runs on this data folder, or starts one. Returns its port. */
export async function ensureServer(cluster: Cluster, settings: string[], port?: number): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const adopted = await findLeftBehind(cluster);
    if (adopted) return adopted;

    const chosen = port ?? (await freePort());
    try {
      await startServer(cluster, chosen, settings);
      return chosen;
    } catch (cause) {
      if (attempt < ATTEMPTS) {
        await sleep(1_000);
        continue;
      }
      const log = await readFile(cluster.log, 'utf8').catch(() => '');
      const end = log.trim().split('\n').slice(-5).join('\n');
      throw new Error(`Postgres does not start in ${cluster.folder}. The end of its log:\n${end}`, { cause });
    }
  }
}

/** `pg_ctl` detaches the server from our process group and session, and returns when it takes connections. */
async function startServer(cluster: Cluster, port: number, settings: string[]): Promise<void> {
  await rm(cluster.log, { force: true });
  const flags = [...COMMON_SETTINGS, ...settings].map((setting) => `-c ${setting}`).join(' ');
  const args = [
    'start',
    '-w',
    '-s',
    '-t',
    '60',
    '-D',
    cluster.data,
    '-l',
    cluster.log,
    '-o',
    `-p ${port} ${flags}`,
  ];
  await run(join(cluster.binaries, 'bin/pg_ctl'), args, cluster.user);
}

/**
 * Breaks off what connections are doing, and writes everything out, so that the next start is quick. Waits
 * for this server only, since another start may bring the next one up at once, which `pg_ctl` mistakes for it.
 */
export async function stopServer(cluster: Cluster): Promise<void> {
  const running = await readPostmaster(cluster);
  if (!running) return;
  const stop = (mode: string) =>
    run(
      join(cluster.binaries, 'bin/pg_ctl'),
      ['stop', '-W', '-s', '-m', mode, '-D', cluster.data],
      cluster.user,
    );
  await stop('fast');
  const end = Date.now() + STOP_TIMEOUT_MS;
  while ((await readPostmaster(cluster))?.pid === running.pid) {
    if (Date.now() > end) return stop('immediate');
    await sleep(20);
  }
}
