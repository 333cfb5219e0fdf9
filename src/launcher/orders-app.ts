import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { PROJECT_FOLDER } from './database.js';
import { HeldOutput } from './held-output.js';
import { choosePort } from './port.js';
import { StartError } from './start-error.js';

const MAX_FAILED_STARTS = 5;
const BACK_OFF_MS = 200;
const START_TIMEOUT_MS = 60_000;
/** What the app gets for the requests that are still being served. */
const STOP_TIMEOUT_MS = 15_000;

export interface OrdersAppOptions {
  databaseUrl: string;
  port?: number;
  /** Called when it listens for the first time, before anything of its own is printed. */
  onFirstReady: (port: number) => Promise<void>;
}

/** Keeps the built app running as a child process: whenever it dies, it is started again. */
export class OrdersApp {
  private readonly output = new HeldOutput();
  private child?: ChildProcess;
  private port?: number;

  constructor(private readonly options: OrdersAppOptions) {}

  /**
   * Ends when the signal has, and the app is down.
   *
   * @throws StartError when the app ends again and again without ever getting ready.
   */
  async run(signal: AbortSignal): Promise<void> {
    let failedStarts = 0;
    while (!signal.aborted) {
      const { wasReady, end } = await this.runOnce(signal);
      if (signal.aborted) return;
      failedStarts = wasReady ? 0 : failedStarts + 1;
      if (failedStarts === MAX_FAILED_STARTS) {
        this.output.releaseToStandardError();
        throw new StartError(`The app has ended ${failedStarts} times before it was ready, now with ${end}.`);
      }
      console.error(`The app has ended with ${end}. It is started again.`);
      await sleep(BACK_OFF_MS * 2 ** failedStarts, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Does not wait for requests. */
  kill(): void {
    this.child?.kill('SIGKILL');
  }

  private async runOnce(signal: AbortSignal): Promise<{ wasReady: boolean; end: string }> {
    // Until the app has been reached once, the port may be taken by somebody else.
    const port = this.port ?? (await choosePort(this.options.port));
    this.output.clear();
    const child = this.spawn(port);
    let wasReady = false;
    child.on('message', (message: { type?: string }) => {
      if (message?.type !== 'ready') return;
      wasReady = true;
      clearTimeout(startTimer);
      void this.ready(port);
    });

    const startTimer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
    let stopTimer: NodeJS.Timeout | undefined;
    const stop = () => {
      child.kill('SIGTERM');
      stopTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });

    const [code, killedBy] = await once(child, 'close');
    signal.removeEventListener('abort', stop);
    clearTimeout(startTimer);
    clearTimeout(stopTimer);
    return { wasReady, end: killedBy ?? `exit code ${code}` };
  }

  private spawn(port: number): ChildProcess {
    const script = join(PROJECT_FOLDER, 'apps/orders/dist/main.js');
    this.child = spawn(process.execPath, ['--enable-source-maps', script], {
      env: { ...process.env, DATABASE_URL: this.options.databaseUrl, PORT: String(port) },
      // The channel tells us when the app is ready, and the app when we are gone.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C in the terminal is for the launcher, which passes it on in its order.
      detached: true,
    });
    this.output.attach(this.child);
    return this.child;
  }

  private async ready(port: number): Promise<void> {
    if (this.port === undefined) {
      this.port = port;
      await this.options.onFirstReady(port);
    }
    this.output.release();
  }
}
