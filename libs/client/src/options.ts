/**
 * How the key is written into its header.
 *
 * - `bare`: as it is, which Stripe and most servers expect
 * - `structured`: as a quoted Structured Field String (RFC 9651), as the draft of the header has it
 *
 * @publicApi
 */
export type KeyStyle = 'bare' | 'structured';

/**
 * How one attempt has ended.
 *
 * @publicApi
 */
export interface AttemptReport {
  /** 1 for the first. */
  readonly attempt: number;
  /** Whole, and unread; undefined where none has come. */
  readonly response: Response | undefined;
  /** `code` of the answer's JSON body, in upper case, where it has one. */
  readonly code: string | undefined;
  /** Why there is no response. */
  readonly cause: unknown;
  /** Milliseconds. */
  readonly duration: number;
  /** Milliseconds until the next attempt; undefined where there is none. */
  readonly nextIn: number | undefined;
}

/** @publicApi */
export interface IdempotentFetchOptions {
  /**
   * The key of the intent, 1 to 255 printable ASCII characters, for instance from `createIntent()` or `deriveKey()`.
   *
   * Counts for more than one that the header of the request has already.
   *
   * @default that of the header, or a new UUID for each call
   */
  key?: string;
  /** @default 'bare' */
  keyStyle?: KeyStyle;
  /**
   * Name of the header.
   *
   * @default 'Idempotency-Key'
   */
  header?: string;
  /**
   * Attempts at most, the first included.
   *
   * @default as many as there is time for
   */
  maxAttempts?: number;
  /**
   * Milliseconds for one attempt, until its answer is there as a whole. It should be longer than the server takes for its
   * slowest answer.
   *
   * @default 30_000
   */
  attemptTimeout?: number;
  /**
   * Milliseconds for all attempts, with the pauses between them. It should be longer than a server needs to be started again,
   * and than `lockTtl`, for which a key is in use after a crash.
   *
   * @default 60_000
   */
  timeout?: number;
  /**
   * Milliseconds: the pause before attempt `n + 1` is random, up to `baseDelay * 2 ** (n - 1)` ("full jitter"). A
   * `Retry-After` of the answer counts in its place.
   *
   * @default 300
   */
  baseDelay?: number;
  /**
   * Milliseconds that such a random pause lasts at most.
   *
   * @default 10_000
   */
  maxDelay?: number;
  /**
   * What sends a request.
   *
   * @default the global `fetch`
   */
  fetch?: typeof fetch;
  /** Hears of each attempt when it has ended, for logs and progress. If it fails, that is ignored. */
  onAttempt?: (report: AttemptReport) => unknown;
}

/** With defaults. */
export type ResolvedOptions = Required<Omit<IdempotentFetchOptions, 'key'>> & {
  readonly key: string | undefined;
};

const DEFAULTS = {
  key: undefined,
  keyStyle: 'bare' as KeyStyle,
  header: 'Idempotency-Key',
  maxAttempts: Infinity,
  attemptTimeout: 30_000,
  timeout: 60_000,
  baseDelay: 300,
  maxDelay: 10_000,
  onAttempt: () => undefined,
};

/** @throws TypeError that names the option, its value and what it takes */
export function resolveOptions(options: IdempotentFetchOptions): ResolvedOptions {
  const resolved: ResolvedOptions = { ...DEFAULTS, fetch: globalThis.fetch, ...withoutUndefined(options) };
  for (const [name, standard] of Object.entries(DEFAULTS)) {
    const value = resolved[name as keyof typeof DEFAULTS];
    if (typeof standard === 'number' && !(typeof value === 'number' && value > 0)) {
      throw new TypeError(`\`${name}\` is ${value}: it must be a number above 0.`);
    }
  }
  if (!/^(bare|structured)$/.test(resolved.keyStyle)) {
    throw new TypeError(`\`keyStyle\` is ${resolved.keyStyle}: it must be 'bare' or 'structured'.`);
  }
  return resolved;
}

/** An option that is given as undefined is one that is not given. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
