import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '../embedded-postgres/index.js';
import { StartError } from './start-error.js';

const DEFAULT_PORT = 3000;

/** Both, since some systems let one process have a port on all addresses while another has it on this one. */
const ADDRESSES = [undefined, '127.0.0.1'];

/** The app of a launcher that was killed notices that within moments. */
const GRACE_MS = 1_000;

/**
 * The port for the app.
 *
 * @throws StartError when one was asked for and is in use.
 */
export async function choosePort(wanted?: number): Promise<number> {
  if (wanted === 0) return freePort();
  if (wanted === undefined) return firstFreePort(DEFAULT_PORT);
  const begin = Date.now();
  while (!(await isFree(wanted))) {
    if (Date.now() - begin > GRACE_MS) {
      throw new StartError(`Port ${wanted} is in use. Set PORT to another one, or leave it out.`);
    }
    await sleep(100);
  }
  return wanted;
}

export async function firstFreePort(from: number): Promise<number> {
  let port = from;
  while (!(await isFree(port))) port++;
  return port;
}

async function isFree(port: number): Promise<boolean> {
  for (const address of ADDRESSES) {
    const free = await new Promise<boolean>((resolve, reject) => {
      const server = createServer();
      server.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') return resolve(false);
        reject(new StartError(`Port ${port} cannot be used: ${error.message}.`, { cause: error }));
      });
      server.listen({ port, host: address }, () => server.close(() => resolve(true)));
    });
    if (!free) return false;
  }
  return true;
}
