import type { BackOff } from './back-off.js';

/**
 * Tries until it succeeds, while nobody waits for it.
 *
 * @param operation gives `false`, or rejects, to be tried again
 * @param limit milliseconds after which it is given up
 */
export async function tryInBackground(
  operation: () => Promise<boolean>,
  backOff: BackOff,
  limit: number,
): Promise<void> {
  const deadline = performance.now() + limit;
  while (performance.now() < deadline) {
    await backOff.sleep();
    if (await operation().catch(() => false)) {
      return;
    }
  }
}
