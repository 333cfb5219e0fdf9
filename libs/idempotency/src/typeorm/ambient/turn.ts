import { AmbientTransactionError } from '../../errors/ambient-transaction.error.js';
import type { AmbientTransaction } from './ambient-transaction.js';

/** How long, in milliseconds, a call waits for a `transaction()` callback that makes no calls itself. */
const STUCK_AFTER = 3_000;

const LOOK_EVERY = 250;

/** One call's place in the queue of its node. */
export class Turn<T> {
  private state: 'waiting' | 'taken' | 'given-up' = 'waiting';

  constructor(private readonly work: () => Promise<T>) {}

  async take(): Promise<T> {
    if (this.state === 'given-up') {
      throw stuck();
    }
    this.state = 'taken';
    return this.work();
  }

  /**
   * A call that was begun before a `transaction()` callback and is awaited inside it waits for the callback, and
   * the callback for it. They would stand still until `transactionTimeout`.
   */
  async orStuck(transaction: AmbientTransaction, result: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const standstill = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        if (this.state === 'waiting' && transaction.quietFor > STUCK_AFTER) {
          this.state = 'given-up';
          reject(stuck());
        }
      }, LOOK_EVERY);
    });
    try {
      return await Promise.race([result, standstill]);
    } finally {
      clearInterval(timer);
    }
  }
}

function stuck(): AmbientTransactionError {
  return new AmbientTransactionError(
    `This database call waits for a transaction() callback of the same request, which has made no call for ` +
      `${STUCK_AFTER} ms and seems to wait for this one. Await the call before the transaction begins, or make it inside.`,
  );
}
