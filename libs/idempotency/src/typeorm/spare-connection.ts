import { type Deadline, withTimeLimit } from '../engine/time-limit.js';

/** Milliseconds that what is urgent waits for a connection of the pool. */
const PATIENCE_WITH_POOL = 250;

/** @returns milliseconds */
export function patienceWithPool(deadline: Deadline): number {
  return Math.min(deadline.remaining, PATIENCE_WITH_POOL);
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
    let isUsable = false;
    try {
      const result = await work(await connecting);
      isUsable = true;
      return result;
    } finally {
      this.users -= 1;
      if (this.client === connecting && (!isUsable || this.users === 0)) {
        this.client = undefined;
        connecting.then(this.end).catch(() => undefined);
      }
    }
  }
}
