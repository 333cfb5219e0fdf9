import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Repeats `work` until it does not throw. The last error is thrown when it never does.
 *
 * @param patience milliseconds
 */
export async function eventually<T>(work: () => Promise<T> | T, patience = 8_000): Promise<T> {
  const deadline = Date.now() + patience;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(25);
  }
}
