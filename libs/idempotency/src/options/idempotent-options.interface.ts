import type { ExecutionContext } from '@nestjs/common';
import type { KeyFormat } from '../http/key-syntax.js';
import type { ByteSize, Duration } from './duration.js';

/**
 * How an attempt is protected.
 *
 * - `transaction`: key, effect and response commit in one transaction of the configured DataSource
 * - `lease`: the claim commits before the handler starts, and the response after it
 *
 * @publicApi
 */
export type IdempotencyMode = 'transaction' | 'lease';

/**
 * Names the principal that a key belongs to (user id, tenant), from what the server knows.
 * It runs after all guards, so `req.user` is set. It must return a non-empty string or a number.
 *
 * @publicApi
 */
export type IdempotencyScopeFn = (request: any, context: ExecutionContext) => unknown;

/** Reads the key of one request; `undefined` means that it has none. @publicApi */
export type IdempotencyKeyFn = (
  context: ExecutionContext,
) => string | undefined | Promise<string | undefined>;

/** What an attempt ended in, as `storeIf` sees it. @publicApi */
export interface IdempotencyOutcome {
  /** The HTTP status that was rendered. */
  status: number;
  /** What the handler threw, if it threw. */
  error?: unknown;
  mode: IdempotencyMode;
}

/** Which response headers are stored and replayed, in addition to the default rule. @publicApi */
export interface ReplayHeadersOptions {
  /** Names that are replayed although the default rule leaves them out. `set-cookie` and hop-by-hop headers are refused. */
  allow?: string[];
  /** Names that are never stored. */
  deny?: string[];
}

/**
 * Options of one handler. The same fields can be set on `@Idempotent()` of a handler or a class and in
 * `IdempotencyModule.forRoot()`; they are merged field by field, handler over class over module.
 *
 * @publicApi
 */
export interface IdempotentOptions {
  /** See {@link IdempotencyMode}. @default 'transaction'; 'lease' with a store of the module */
  mode?: IdempotencyMode;
  /**
   * Whether a request without a key is refused with 400 `IDEMPOTENCY_KEY_REQUIRED`. With `false` such a
   * request runs unprotected; a key that cannot be read is refused all the same.
   * @default true
   */
  required?: boolean;
  /** How long a result is replayed (retention), counted by the database's clock. @default '24h' */
  ttl?: Duration;
  /**
   * `lease` mode: how long a claim outlives the process that holds it. It is renewed every third of this
   * time while the handler runs, so a slow handler keeps it. @default '30s'
   */
  lockTtl?: Duration;
  /** What `Retry-After` tells a client to wait, sent in whole seconds, rounded up. @default '1s' */
  retryAfter?: Duration;
  /** Who a key belongs to; `false` shares one namespace among all callers, on purpose. Required in `forRoot()`. */
  scope?: IdempotencyScopeFn | false;
  /** Reads the key from somewhere else than the header. It wins over `header` and `keyFormat`. */
  keyFrom?: IdempotencyKeyFn;
  /** The request header that carries the key. @default 'Idempotency-Key' */
  header?: string;
  /**
   * `'any'` accepts the draft's quoted Structured Field String and the bare form (both are one key);
   * `'structured'` accepts the quoted form alone. @default 'any'
   */
  keyFormat?: KeyFormat;
  /**
   * Selects what of the body a retry must repeat: receives the parsed body, before pipes, and returns any
   * JSON value, for example the body without a client timestamp. Method, path and query count always.
   * @default the whole body
   */
  fingerprint?: (body: any, context: ExecutionContext) => unknown;
  /**
   * Asked where the outcome would be stored; `false` releases the key, and a retry executes. In
   * `transaction` mode it is not asked for answers below 400: releasing them would undo a success.
   * @default stores
   */
  storeIf?: (outcome: IdempotencyOutcome) => boolean;
  /**
   * What a duplicate gets while the first request is being executed: 409 at once, or the first result
   * after waiting for it up to `wait` (then 409). A waiting request holds no database connection.
   * @default 'reject'
   */
  inFlight?: 'reject' | { wait: Duration };
  /**
   * `lease` mode, when an attempt died: `'fail'` answers 409 `IDEMPOTENCY_OUTCOME_UNKNOWN` until `ttl` is
   * over; `'retry'` lets the next request execute. @default 'fail'
   */
  onAbandoned?: 'fail' | 'retry';
  /**
   * `lease` mode, when the store does not answer a claim within `storeTimeout`: `'refuse'` answers 503
   * `IDEMPOTENCY_STORE_UNAVAILABLE` and executes nothing; `'execute'` executes without protection, so that a retry may
   * execute again, and logs a warning for each such request. @default 'refuse'
   */
  onStoreError?: 'refuse' | 'execute';
  /**
   * The largest response body that is stored; a larger one is sent, and cannot be replayed. The results of the steps of
   * an attempt, together, have the same limit. @default '1mb'
   */
  maxResponseBytes?: ByteSize;
  /** Changes which response headers are replayed. */
  replayHeaders?: ReplayHeadersOptions;
  /** How long a claim, or the record of an outcome, may wait for the database. @default '5s' */
  storeTimeout?: Duration;
  /**
   * How long the transaction of one request may stay open, or in `lease` mode that of one `transactionalStep()`.
   * @default '60s'
   */
  transactionTimeout?: Duration;
  /** `transaction` mode: the isolation level. @default the database's own */
  isolation?: IsolationLevel;
  /** Names the operation, in place of method and route template: handlers with one name share their keys. */
  operation?: string;
}

/** Isolation levels of Postgres, as TypeORM spells them. @publicApi */
export type IsolationLevel = 'READ UNCOMMITTED' | 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';
