import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export interface ChildOptions {
  /** File in this folder. */
  script: string;
  env: NodeJS.ProcessEnv;
  /** Milliseconds by which its clock is wrong. */
  clockOffset?: number;
}

/** A Node process that runs TypeScript. What it prints is in `output`. */
export class Child<Message> {
  output = '';
  readonly process: ChildProcess;
  /** How it ended: an exit code or the name of a signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  private readonly messages: Message[] = [];
  private readonly expectant = new Set<() => void>();

  constructor({ script, env, clockOffset }: ChildOptions) {
    const imports = ['run-typescript.js', ...(clockOffset === undefined ? [] : ['shift-clock.js'])];
    this.process = fork(fileOf(script), {
      execArgv: [
        '--no-warnings',
        ...imports.flatMap((name) => ['--import', new URL(name, import.meta.url).href]),
      ],
      env: {
        ...process.env,
        ...env,
        ...(clockOffset !== undefined && { CLOCK_OFFSET: String(clockOffset) }),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.process.stdout!.on('data', (text) => (this.output += text));
    this.process.stderr!.on('data', (text) => (this.output += text));
    this.process.on('message', (message) => {
      this.messages.push(message as Message);
      this.expectant.forEach((look) => look());
    });
    this.ended = new Promise((resolve) => {
      this.process.once('exit', (code, signal) => {
        resolve(code ?? signal!);
        this.expectant.forEach((look) => look());
      });
    });
  }

  /**
   * The next message that it sends, or has sent and nobody has waited for.
   *
   * @param instead what else may happen, by being rejected; the next message is then left to others
   * @throws when the process ends instead
   */
  async message(instead?: Promise<never>): Promise<Message> {
    // It may also be rejected when nobody waits any more.
    instead?.catch(() => undefined);
    while (this.messages.length === 0) {
      if (this.hasEnded) throw new Error(`The process has ended: ${this.output}`);
      const news = new Promise<void>((resolve) => {
        const look = (): void => {
          this.expectant.delete(look);
          resolve();
        };
        this.expectant.add(look);
      });
      await (instead ? Promise.race([news, instead]) : news);
    }
    return this.messages.shift()!;
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  /** Whatever state it is in. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }
}
