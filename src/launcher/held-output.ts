import type { ChildProcess } from 'node:child_process';

/**
 * Keeps what child processes print until it is released, and passes it on from then on: the first address
 * on the screen should be the app's, not one from somewhere in its log.
 */
export class HeldOutput {
  private held: Array<{ target: NodeJS.WriteStream; chunk: Buffer }> | undefined = [];

  attach(child: ChildProcess): void {
    child.stdout?.on('data', (chunk: Buffer) => this.write(process.stdout, chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.write(process.stderr, chunk));
  }

  /** Forgets what an attempt that is over has printed. */
  clear(): void {
    if (this.held) this.held = [];
  }

  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const { target, chunk } of held) target.write(chunk);
  }

  /** Shows what led to a failure, where failures are shown. */
  releaseToStandardError(): void {
    for (const entry of this.held ?? []) entry.target = process.stderr;
    this.release();
  }

  private write(target: NodeJS.WriteStream, chunk: Buffer): void {
    if (this.held) this.held.push({ target, chunk });
    else target.write(chunk);
  }
}
