import { Deadline, withTimeLimit } from '../engine/time-limit.js';

/** Milliseconds that what is urgent waits for a connection of the pool. */
const PATIENCE_WITH_POOL = 250;

/** @returns a connection of the pool, or undefined where it has none to give soon */
export function acquireSoon<Pooled>(
  deadline: Deadline,
  acquire: (deadline: Deadline) => Promise<Pooled>,
): Promise<Pooled | undefined> {
  const patience = new Deadline(Math.min(deadline.remaining, PATIENCE_WITH_POOL));
  return acquire(patience).catch(() => undefined);
}

/**
 * One connection beside a pool, open as long as somebody uses it. A pool that is full of handlers which take long gives none
 * for the renewal of their own leases.
 */
export class SpareConnection<Client> {
  private client: Promise<Client> | undefined;
  private users = 0;

  constructor(
    private readonly connect: () => Promise<Client>,
    private readonly end: (client: Client) => Promise<void> | void,
  ) {}

  /**
   * All that use it at the same time share it, so `work` sends what commits by itself.
   *
   * @throws TimeLimitError; what `connect` and `work` throw
   */
  use<T>(deadline: Deadline, work: (client: Client) => Promise<T>): Promise<T> {
    return withTimeLimit('A statement beside the pool', deadline.remaining, this.useShared(work));
  }

  private async useShared<T>(work: (client: Client) => Promise<T>): Promise<T> {
    this.users += 1;
    const connecting = (this.client ??= this.connect());
    try {
      return await work(await connecting);
    } catch (error) {
      if (this.client === connecting) {
        this.close();
      }
      throw error;
    } finally {
      this.users -= 1;
      if (this.users === 0) {
        // Also where it is not the one that was used: that may have failed, and another one have been made since.
        this.close();
      }
    }
  }

  private close(): void {
    this.client?.then(this.end).catch(() => undefined);
    this.client = undefined;
  }
}
