import { execFileSync, spawnSync } from 'node:child_process';

/** An account to run Postgres as. `undefined` in its place means: as whoever runs this process. */
export interface OperatingSystemUser {
  uid: number;
  gid: number;
}

/** The account meant for Postgres, or else the one that every Unix has for unprivileged work. */
const CANDIDATES = ['postgres', 'nobody'];

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Postgres refuses to run as root, so that a hole in it is not a hole in the machine.
 *
 * @throws Error when this is root and the machine has no account to switch to.
 */
export function chooseUser(): OperatingSystemUser | undefined {
  if (!runsAsRoot()) return undefined;
  for (const name of CANDIDATES) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) };
    } catch {
      continue;
    }
  }
  throw new Error(
    `Postgres does not run as root, and this machine has none of the users ${CANDIDATES.join(', ')}. ` +
      'Start it as an ordinary user, or set DATABASE_URL to a Postgres of your own.',
  );
}

/** Asks the system itself, since a folder on the way may be closed by mode, owner or access list. */
export function canEnter(user: OperatingSystemUser, ...paths: string[]): boolean {
  const script = 'for path; do test -x "$path" || exit 1; done';
  const probe = spawnSync('/bin/sh', ['-c', script, 'sh', ...paths], { ...user, cwd: '/', stdio: 'ignore' });
  return probe.status === 0;
}

function idOf(flag: '-u' | '-g', name: string): number {
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  return Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio }));
}
