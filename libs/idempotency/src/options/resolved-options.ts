import type { HeaderRule } from '../http/header-rule.js';
import type { KeyFormat } from '../http/key-syntax.js';
import type {
  IdempotencyKeyFn,
  IdempotencyMode,
  IdempotencyOutcome,
  IdempotencyScopeFn,
  IdempotentOptions,
  IsolationLevel,
} from './idempotent-options.interface.js';

/** What the engine needs to know of a handler: all defaults filled in, durations in milliseconds. @internal */
export interface AttemptOptions {
  readonly mode: IdempotencyMode;
  readonly ttl: number;
  readonly lockTtl: number;
  readonly retryAfter: number;
  /** Milliseconds that a duplicate waits for the first request; 0 rejects it at once. */
  readonly waitInFlight: number;
  readonly onAbandoned: 'fail' | 'retry';
  readonly onStoreError: 'refuse' | 'execute';
  readonly maxResponseBytes: number;
  readonly storeTimeout: number;
  readonly transactionTimeout: number;
  readonly isolation: IsolationLevel | undefined;
  readonly storeIf: (outcome: IdempotencyOutcome) => boolean;
}

/** @internal */
export interface ResolvedOptions extends AttemptOptions {
  readonly required: boolean;
  readonly scope: IdempotencyScopeFn | false;
  readonly keyFrom: IdempotencyKeyFn | undefined;
  readonly header: string;
  readonly keyFormat: KeyFormat;
  readonly fingerprint: IdempotentOptions['fingerprint'];
  readonly headerRule: HeaderRule;
  readonly operation: string | undefined;
}
