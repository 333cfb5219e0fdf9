import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { PROJECT_FOLDER } from './database.js';
import { HeldOutput } from './held-output.js';
import { StartError } from './start-error.js';

/** Brings the schema up to date and fills the catalogue; both do nothing the second time. */
export async function migrate(databaseUrl: string, signal: AbortSignal): Promise<void> {
  const child = spawn(process.execPath, [join(PROJECT_FOLDER, 'apps/orders/dist/migrate.js')], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in the terminal is for the launcher, which passes it on in its order.
    detached: true,
    // All of it is one transaction, so it may be broken off at any time.
    signal,
  });
  const output = new HeldOutput();
  output.attach(child);
  const [code] = await once(child, 'close').catch((error) => {
    if (!signal.aborted) throw error;
    return [0];
  });
  if (code === 0) return;
  output.releaseToStandardError();
  throw new StartError('The migrations have failed, for the reason above.');
}
