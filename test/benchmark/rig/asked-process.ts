import { type ChildProcess, fork } from 'node:child_process';

import type { Guard } from '../../chaos/guard.js';
import type { Answers, Message, Question } from '../processes/answer.js';

const START_TIMEOUT_MS = 60_000;

/** How much of what a process has printed is kept, for the case that it fails. */
const KEPT_OUTPUT = 5_000;

interface Waiting {
  resolve(value: any): void;
  reject(error: Error): void;
}

/** A compiled script in a process of its own, run as in production, that answers questions. */
export class AskedProcess<A extends Answers> {
  private readonly child: ChildProcess;
  private readonly ready: Promise<void>;
  private readonly waiting = new Map<number, Waiting>();
  private questions = 0;
  private output = '';

  private constructor(
    private readonly script: string,
    environment: NodeJS.ProcessEnv,
    guard: Guard,
  ) {
    this.child = fork(script, {
      // Neither the flags of this process, such as the loader of TypeScript, nor its variables for npm.
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production', NO_COLOR: '1', ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C in the terminal is for the harness, which ends things in their order.
      detached: true,
    });
    guard.watch(this.child);
    const keep = (text: unknown): void => {
      this.output = `${this.output}${text}`.slice(-KEPT_OUTPUT);
    };
    this.child.stdout!.on('data', keep);
    this.child.stderr!.on('data', keep);
    this.ready = new Promise((resolve, reject) => {
      this.waiting.set(0, { resolve, reject });
    });
    this.child.on('message', (message: Message) => this.hear(message));
    this.child.once('close', () => this.fail());
  }

  /** @throws Error with what the process has printed when it ends instead */
  static async start<A extends Answers>(
    script: string,
    environment: NodeJS.ProcessEnv,
    guard: Guard,
  ): Promise<AskedProcess<A>> {
    const started = new AskedProcess<A>(script, environment, guard);
    const timer = setTimeout(() => started.child.kill('SIGKILL'), START_TIMEOUT_MS);
    await started.ready.finally(() => clearTimeout(timer));
    return started;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** The end of what it has printed. */
  get printed(): string {
    return this.output.trim();
  }

  ask<Name extends keyof A & string>(
    name: Name,
    ...values: Parameters<A[Name]>
  ): Promise<Awaited<ReturnType<A[Name]>>> {
    return new Promise((resolve, reject) => {
      this.questions += 1;
      const question: Question = { id: this.questions, name, values };
      this.waiting.set(question.id, { resolve, reject });
      this.child.send(question);
    });
  }

  /** At once: nothing of it is needed any more. */
  stop(): void {
    this.child.kill('SIGKILL');
  }

  private hear(message: Message): void {
    const id = message.type === 'ready' ? 0 : message.id;
    const waiting = this.waiting.get(id)!;
    this.waiting.delete(id);
    if (message.type === 'ready') waiting.resolve(undefined);
    else if (message.error === undefined) waiting.resolve(message.value);
    else waiting.reject(new Error(message.error));
  }

  private fail(): void {
    const error = new Error(`${this.script} has ended. It has printed:\n${this.printed}`);
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
