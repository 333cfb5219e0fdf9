import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Guard } from '../guard.js';
import type { Journal } from '../journal.js';
import { SERVER_SCRIPT } from '../project.js';
import { removeRemains } from './skew.js';

const PAUSE_AFTER_FAILED_START_MS = 1_000;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;

export interface ServerOptions {
  name: string;
  port: number;
  /** Flags of Node before the script. */
  flags: string[];
  environment: NodeJS.ProcessEnv;
  logFile: string;
}

/** One server of the app, which is started again whenever it has ended, until it is stopped. */
export class ServerProcess {
  readonly name: string;
  readonly url: string;
  /** Requests of the clients that have no answer yet. */
  inFlight = 0;
  mostInFlight = 0;
  /** How often it has ended by itself. */
  crashes = 0;
  private child?: ChildProcess;
  private supervision?: Promise<void>;
  private stopping = false;
  private ready = false;
  private pause = 0;
  private readonly log: WriteStream;

  constructor(
    private readonly options: ServerOptions,
    private readonly guard: Guard,
    private readonly journal: Journal,
  ) {
    this.name = options.name;
    this.url = `http://127.0.0.1:${options.port}`;
    this.log = createWriteStream(options.logFile);
  }

  /** Whether it takes requests, unless it is stalled. */
  get isReady(): boolean {
    return this.ready;
  }

  /** Returns when it is ready for the first time. @throws Error when it does not get ready */
  async start(): Promise<void> {
    await new Promise<void>((ready, fail) => {
      const giveUp = () =>
        fail(new Error(`${this.name} does not start; its log is ${this.options.logFile}.`));
      const timer = setTimeout(giveUp, START_TIMEOUT_MS);
      this.supervision = this.supervise(() => {
        clearTimeout(timer);
        ready();
      });
    });
  }

  kill(downFor: number): void {
    this.pause = downFor;
    this.child?.kill('SIGKILL');
  }

  /** Stops it as a long pause of the machine would, and lets it go on afterwards: the zombie. */
  stall(duration: number): void {
    const { child } = this;
    child?.kill('SIGSTOP');
    setTimeout(() => child?.kill('SIGCONT'), duration).unref();
  }

  /** Lets it go on if it is stalled. */
  resume(): void {
    this.child?.kill('SIGCONT');
  }

  /** A client has sent it a request … */
  begun(): void {
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
  }

  /** … and has an answer, or gives up. */
  ended(): void {
    this.inFlight -= 1;
  }

  /** In order: requests finish. Whether that was in time. */
  async stop(): Promise<boolean> {
    this.stopping = true;
    this.resume();
    this.child?.kill('SIGTERM');
    let isInTime = true;
    const timer = setTimeout(() => {
      isInTime = false;
      this.child?.kill('SIGKILL');
    }, STOP_TIMEOUT_MS);
    await this.supervision;
    clearTimeout(timer);
    this.log.end();
    return isInTime;
  }

  private async supervise(whenReady: () => void): Promise<void> {
    while (!this.stopping && !this.guard.isOver) {
      this.pause = PAUSE_AFTER_FAILED_START_MS;
      const child = this.spawn(whenReady);
      const [code, signal] = await once(child, 'exit');
      const wasReady = this.ready;
      this.ready = false;
      await removeRemains(child.pid!);
      if (this.stopping) return;
      this.journal.note(`${this.name} has ended with ${signal ?? `code ${code}`}`);
      // Without a database it does not get ready, and says so; it must not end after that.
      if (wasReady && signal !== 'SIGKILL') this.crashes += 1;
      await sleep(this.pause);
    }
  }

  private spawn(whenReady: () => void): ChildProcess {
    const { flags, environment, port } = this.options;
    const child = spawn(process.execPath, [...flags, SERVER_SCRIPT], {
      env: { ...process.env, ...environment, PORT: String(port) },
      // The channel tells us when the app is ready, and the app when we are gone.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C in the terminal is for the harness, which ends things in their order.
      detached: true,
    });
    this.child = child;
    this.guard.watch(child);
    child.stdout!.pipe(this.log, { end: false });
    child.stderr!.pipe(this.log, { end: false });
    child.on('message', (message: { type?: string }) => {
      if (message.type !== 'ready') return;
      this.ready = true;
      this.journal.note(`${this.name} is ready`);
      whenReady();
    });
    return child;
  }
}
