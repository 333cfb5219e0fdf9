import { execFile } from 'node:child_process';
import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const LIBRARIES = '/usr/lib';

/** What the servers' clocks are off by, one after the other. */
const OFFSETS = ['+1h', '-1h', undefined];

/** Gives processes a system clock that is ahead or behind. */
export interface ClockSkew {
  /** How far the clock of this server is off; undefined for one that is right. */
  offset(server: number): string | undefined;
  /** The environment that brings it about. */
  environment(server: number): NodeJS.ProcessEnv;
}

export const NO_SKEW: ClockSkew = { offset: () => undefined, environment: () => ({}) };

/**
 * By the library of Debian's package `faketime`, which is installed when it is missing. The command `faketime`
 * would put a process of its own in front of the server, so that a SIGKILL or SIGSTOP never reached that.
 *
 * @throws Error when it cannot be had, with the reason
 */
export async function prepareSkew(): Promise<ClockSkew> {
  const library = (await findLibrary()) ?? (await install());
  return {
    offset: offsetOf,
    environment: (server) =>
      offsetOf(server) === undefined
        ? {}
        : {
            LD_PRELOAD: library,
            FAKETIME: offsetOf(server),
            // The clock that nobody sets, by which timers run, stays right.
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
          },
  };
}

function offsetOf(server: number): string | undefined {
  return OFFSETS[server % OFFSETS.length];
}

/** What the library leaves behind of a process that was killed. */
export async function removeRemains(pid: number): Promise<void> {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`]) {
    await rm(join('/dev/shm', name), { force: true });
  }
}

async function findLibrary(): Promise<string | undefined> {
  const folders = await readdir(LIBRARIES).catch(() => []);
  for (const folder of ['.', ...folders]) {
    const library = join(LIBRARIES, folder, 'faketime/libfaketime.so.1');
    const exists = await access(library).then(
      () => true,
      () => false,
    );
    if (exists) return library;
  }
  return undefined;
}

async function install(): Promise<string> {
  try {
    await run('apt-get', ['install', '-y', 'faketime']).catch(async () => {
      await run('apt-get', ['update']);
      await run('apt-get', ['install', '-y', 'faketime']);
    });
  } catch (cause) {
    const { message } = cause as Error;
    const reason = message.trim().split('\n').at(-1);
    throw new Error(`Debian's package faketime is missing and cannot be installed: ${reason}`, { cause });
  }
  const library = await findLibrary();
  if (!library) throw new Error("Debian's package faketime has no library for this platform.");
  return library;
}
