import { type Ending, isReplay, isRetryable, isUnknown, readWhole } from './ending.js';
import { IdempotentFetchError } from './idempotent-fetch.error.js';
import { newKey, writeKey } from './key.js';
import { type IdempotentFetchOptions, type KeyStyle, resolveOptions } from './options.js';
import { makeRepeatable, type RepeatableRequest } from './repeatable-request.js';
import { retryAfter } from './retry-after.js';
import { pause, withinTime } from './time.js';

/**
 * The final answer, which is also one such as 400 or 422. Its body has arrived as a whole and is unread.
 *
 * @publicApi
 */
export type IdempotentResponse = Response & {
  /** That was sent with each attempt. */
  readonly key: string;
  /** That were made. */
  readonly attempts: number;
  /** Whether it is the recorded answer of an earlier attempt. */
  readonly replayed: boolean;
};

/**
 * A `fetch` that sends one idempotency key with each attempt of one call, and the same bytes.
 *
 * It tries again after a network error, an attempt that took too long, a 409 with the code `IDEMPOTENCY_KEY_IN_USE`, a 429,
 * and a 5xx that is not itself a replay. Any other answer is final.
 *
 * ```ts
 * const response = await idempotentFetch('/orders', { method: 'POST', body: JSON.stringify(order) });
 * ```
 *
 * @throws IdempotentFetchError when it gives up: its key serves for going on later
 * @throws TypeError for a body, a key or an option that cannot be used
 * @throws the reason of the caller's `signal`, when that is aborted
 * @publicApi
 */
export async function idempotentFetch(
  input: Parameters<typeof fetch>[0],
  init: RequestInit = {},
  options: IdempotentFetchOptions = {},
): Promise<IdempotentResponse> {
  const { maxAttempts, attemptTimeout, timeout, baseDelay, maxDelay, onAttempt, ...settings } =
    resolveOptions(options);
  const end = performance.now() + timeout;
  const request = await makeRepeatable(input, init, timeout);
  const key = addKey(request, settings);
  let outcomeUnknown = false;
  for (let attempt = 1; ; attempt += 1) {
    const begun = performance.now();
    const ending = await sendOnce(request, settings.fetch, Math.min(attemptTimeout, end - begun));
    const { response, cause, code } = ending;
    const mayRetry = isRetryable(ending);
    outcomeUnknown ||= mayRetry && isUnknown(ending);
    const wait =
      (response && retryAfter(response)) ??
      Math.random() * Math.min(maxDelay, baseDelay * 2 ** (attempt - 1));
    const goesOn = mayRetry && attempt < maxAttempts && performance.now() + wait < end;
    const duration = performance.now() - begun;
    const report = { attempt, response, code, cause, duration, nextIn: goesOn ? wait : undefined };
    // What fails in a log must not cost the answer.
    void Promise.resolve(report)
      .then(onAttempt)
      .catch(() => undefined);
    if (response && !mayRetry) {
      return Object.assign(response, { key, attempts: attempt, replayed: isReplay(response) });
    }
    if (!goesOn) {
      throw new IdempotentFetchError(
        `${request.name} was given up after ${attempt} attempts (${response?.status ?? cause}). ` +
          `${outcomeUnknown ? 'Its outcome is unknown' : 'It had no effect'}: go on with the same key.`,
        key,
        attempt,
        outcomeUnknown,
        response,
        cause,
      );
    }
    await pause(wait, request.signal);
  }
}

/** @returns the key that is sent, without the quotes that it may have in its header */
function addKey(
  { headers }: RepeatableRequest,
  { key, keyStyle, header }: { key: string | undefined; keyStyle: KeyStyle; header: string },
): string {
  const given = headers.get(header);
  if (key === undefined && given) {
    return given.replace(/^"(.*)"$/, '$1');
  }
  const sent = key ?? newKey();
  headers.set(header, writeKey(sent, keyStyle));
  return sent;
}

async function sendOnce(request: RepeatableRequest, fetcher: typeof fetch, limit: number): Promise<Ending> {
  try {
    return await withinTime(limit, request.signal, async (signal) =>
      readWhole(await request.send(fetcher, signal)),
    );
  } catch (cause) {
    // The caller's own wish, and no failure of the attempt.
    request.signal.throwIfAborted();
    return { cause };
  }
}
