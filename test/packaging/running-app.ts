import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '../../src/embedded-postgres/index.js';
import { interruption } from './interruption.js';
import { outsideEnvironment } from './outside-environment.js';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;

/** Starts `dist/main.js` of this folder, works with it while it answers, and stops it in any case. */
export async function withRunningApp(
  folder: string,
  variables: Record<string, string>,
  work: (url: string) => Promise<void>,
): Promise<void> {
  interruption.throwIfAborted();
  const port = await freePort();
  const named = Object.keys(variables).map((name) => `${name}=… `);
  console.log(`$ ${named.join('')}PORT=${port} node dist/main.js`);
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: folder,
    env: { ...outsideEnvironment(), ...variables, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  let log = '';
  child.stdout.on('data', (chunk) => (log += chunk));
  child.stderr.on('data', (chunk) => (log += chunk));
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilItAnswers(child, url);
    await work(url);
  } catch (cause) {
    await stop(child, closed);
    throw new Error(`${(cause as Error).message}\nThe end of the app's log:\n${log.trim().slice(-4_000)}`, {
      cause,
    });
  }
  await stop(child, closed);
}

async function untilItAnswers(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    interruption.throwIfAborted();
    // Any answer will do, also 404.
    if (await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)) return;
    if (hasEnded(child)) throw new Error('The app has ended before it answered.');
    if (Date.now() > deadline) throw new Error(`The app did not answer within ${START_TIMEOUT_MS} ms.`);
    await sleep(100);
  }
}

async function stop(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  // Does nothing when it has ended already.
  child.kill('SIGTERM');
  await closed;
  clearTimeout(timer);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
