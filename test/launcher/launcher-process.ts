import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A launcher in a process group of its own, as a terminal would start it. */
export class LauncherProcess {
  stdout = '';
  stderr = '';
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  constructor(args: string[], cwd: string, env: NodeJS.ProcessEnv) {
    const { DATABASE_URL: _, ...inherited } = process.env;
    this.child = spawn(process.execPath, args, {
      cwd,
      // As if npm had started it: so it goes down with the test, however that ends.
      env: { ...inherited, npm_lifecycle_event: 'start', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.child.stdout!.on('data', (chunk) => (this.stdout += chunk));
    this.child.stderr!.on('data', (chunk) => (this.stderr += chunk));
    this.closed = once(this.child, 'close');
  }

  /** The first address that it prints, or an error with everything that it printed instead. */
  async address(): Promise<string> {
    return this.shown(/http:\/\/\S+/);
  }

  /** Waits for a text on standard output. */
  async shown(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.stdout)?.[0];
      if (found) return found;
      const { exitCode, signalCode } = this.child;
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`The launcher has ended (${exitCode ?? signalCode}): ${this.stdout}${this.stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.child.pid!, signal);
  }

  /** The exit code, once it has ended. */
  async exit(): Promise<number | null> {
    await this.closed;
    return this.child.exitCode;
  }

  /** Stops it in order. */
  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.exit();
  }
}
