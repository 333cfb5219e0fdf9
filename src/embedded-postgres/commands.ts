import { spawn } from 'node:child_process';

import type { OperatingSystemUser } from './operating-system-user.js';

/** English messages in plain C; and no PGDATA or PGPORT of a Postgres that the machine has already. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'));
  return { ...Object.fromEntries(entries), LC_ALL: 'C' };
}

/**
 * Runs one of the Postgres programs to its end. It gets a process group of its own, so that Ctrl-C in the
 * terminal reaches only this process, which then stops things in their order.
 *
 * @throws Error with the program's own words when it does not succeed.
 */
export async function run(program: string, args: string[], user?: OperatingSystemUser): Promise<void> {
  const child = spawn(program, args, {
    ...user,
    // The user may not be allowed to look at the folder that this process happens to be in.
    cwd: '/',
    env: cleanEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`${program} ${args[0]} failed: ${output.trim()}`);
}
