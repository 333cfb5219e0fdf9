import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A server of the test's own, in a process that can be killed and stopped. */
export abstract class OwnServer {
  protected child!: ChildProcess;

  /** As by a crash: what is not on disk is lost. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  /** Stops answering, with all connections open, until `resume()`. */
  stall(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }
}
