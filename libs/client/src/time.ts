/** What timers can count to: 24 days. */
const LONGEST = 2 ** 31 - 1;

/**
 * Gives `work` a signal that is aborted after `limit` milliseconds, or with `outer`, and waits no longer than that for it.
 *
 * @throws the reason of the abort
 */
export async function withinTime<T>(
  limit: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  const follow = (): void => controller.abort(outer.reason);
  const late = (): void => {
    controller.abort(new DOMException('There was no whole answer in time.', 'TimeoutError'));
  };
  const timer = limit > LONGEST ? undefined : setTimeout(late, limit);
  outer.addEventListener('abort', follow);
  try {
    return await Promise.race([aborted, work(signal)]);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', follow);
  }
}

/** @throws the reason of the signal, when that is aborted meanwhile */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(milliseconds, LONGEST));
  });
  await withinTime(Infinity, signal, () => over).finally(() => clearTimeout(timer));
}
