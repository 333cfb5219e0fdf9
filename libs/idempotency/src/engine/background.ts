import { setMaxListeners } from 'node:events';
import type { BackOff } from './back-off.js';
import { promised } from './promised.js';
import { Deadline } from './time-limit.js';

/** Writes that no request waits for any more, only a shutdown. */
export class Background {
  private readonly running = new Set<Promise<void>>();
  private readonly stopped = new AbortController();

  constructor() {
    // Every write that waits listens to it.
    setMaxListeners(0, this.stopped.signal);
  }

  /**
   * Tries until it succeeds.
   *
   * @param operation gives `false`, or rejects, to be tried again
   * @param limit milliseconds after which it is given up
   * @param afterwards what belongs to it, however it ends
   */
  keepTrying(
    operation: () => Promise<boolean>,
    backOff: BackOff,
    limit: number,
    afterwards: () => Promise<void> | void = () => undefined,
  ): void {
    const work = this.tryUntil(operation, backOff, new Deadline(limit))
      .then(afterwards)
      .finally(() => this.running.delete(work));
    this.running.add(work);
  }

  get size(): number {
    return this.running.size;
  }

  /** Resolves when all that runs now is over. */
  async idle(): Promise<void> {
    await Promise.all(this.running);
  }

  stop(): void {
    this.stopped.abort();
  }

  private async tryUntil(
    operation: () => Promise<boolean>,
    backOff: BackOff,
    deadline: Deadline,
  ): Promise<void> {
    const { signal } = this.stopped;
    let isDone = false;
    while (!isDone && !signal.aborted && deadline.left > 0) {
      await backOff.sleep(Infinity, signal);
      isDone = signal.aborted || (await promised(operation).catch(() => false));
    }
  }
}
