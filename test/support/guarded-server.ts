import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { EmbeddedPostgres, prepareHomeIn } from '../../src/embedded-postgres/index.js';
import type { Home } from '../../src/embedded-postgres/index.js';

const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const PREFIX = 'exactly-once-test-';

/** Waits until its standard input ends, then stops the server and removes its folder. */
const GUARD = 'cat > /dev/null; "$1" stop -s -w -m immediate -D "$2/data"; rm -rf "$2"';

export interface GuardedServer {
  url: string;
  stop(): Promise<void>;
}

/**
 * A Postgres in a temporary folder that does not outlive this process, however it ends. A child process
 * guards it: the pipe between the two closes when this process stops, crashes or is killed.
 */
export async function startGuardedServer(): Promise<GuardedServer> {
  await removeForgottenFolders();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const home = await prepareHomeIn(folder, PROJECT);
  const guard = spawnGuard(home);
  const settings = ['max_connections=300'];
  const server = await EmbeddedPostgres.start({ projectFolder: PROJECT, home, durable: false, settings });
  return {
    url: server.url(),
    async stop() {
      await server.stop();
      guard.stdin.end();
      guard.ref();
      await once(guard, 'exit');
    },
  };
}

function spawnGuard({ folder, binaries, user }: Home) {
  const args = ['-c', GUARD, 'sh', join(binaries, 'bin/pg_ctl'), folder];
  // Detached: Ctrl-C in the terminal is for the tests, after which there is still something to do.
  const guard = spawn('/bin/sh', args, {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return guard;
}

/** Left only when the guard was killed as well, e.g. by a power cut. */
async function removeForgottenFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (!pid || isAlive(Number(pid))) continue;
    const home = await prepareHomeIn(join(tmpdir(), name), PROJECT).catch(() => undefined);
    if (home) spawnGuard(home).stdin.end();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
