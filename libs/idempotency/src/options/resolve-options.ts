import { IDEMPOTENCY_KEY_HEADER } from '../idempotency.constants.js';
import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { HeaderRule } from '../http/header-rule.js';
import { describe, MAX_TIMER_DELAY, parseByteSize, parseDuration } from './duration.js';
import type { IdempotentOptions } from './idempotent-options.interface.js';
import type { ResolvedOptions } from './resolved-options.js';

/** Every default of a handler's options, in one place. */
const DEFAULTS = {
  mode: 'transaction',
  required: true,
  ttl: '24h',
  lockTtl: '30s',
  retryAfter: '1s',
  header: IDEMPOTENCY_KEY_HEADER,
  keyFormat: 'any',
  inFlight: 'reject',
  onAbandoned: 'fail',
  onStoreError: 'refuse',
  maxResponseBytes: '1mb',
  storeTimeout: '5s',
  transactionTimeout: '60s',
  storeIf: () => true,
} as const satisfies IdempotentOptions;

const WITHOUT_DEFAULT = [
  'scope',
  'keyFrom',
  'fingerprint',
  'replayHeaders',
  'isolation',
  'operation',
] as const satisfies (keyof IdempotentOptions)[];

const OPTION_NAMES: ReadonlySet<string> = new Set([...Object.keys(DEFAULTS), ...WITHOUT_DEFAULT]);

const ISOLATION_LEVELS = ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

/**
 * Merges the layers field by field (a later layer wins, `undefined` leaves the earlier value), fills the
 * defaults in, validates, and converts durations and sizes to numbers.
 *
 * @throws IdempotencyConfigurationError naming the option, its value and the fix
 */
export function resolveOptions(...layers: (IdempotentOptions | undefined)[]): ResolvedOptions {
  const merged = mergeLayers(layers);
  const { scope } = merged;
  if (scope !== false && typeof scope !== 'function') {
    throw new IdempotencyConfigurationError(
      `The option \`scope\` is ${describe(scope)}: without it, all callers would share their keys, and one ` +
        `could get another's response. Set a function of the request that returns the principal, such as ` +
        `\`scope: (req) => req.user.id\`, or \`scope: false\` where sharing is meant.`,
    );
  }
  return {
    mode: oneOf('mode', merged.mode, ['transaction', 'lease']),
    required: boolean('required', merged.required),
    ttl: parseDuration('ttl', merged.ttl),
    lockTtl: timer('lockTtl', merged.lockTtl),
    retryAfter: parseDuration('retryAfter', merged.retryAfter),
    scope,
    keyFrom: optionalFunction('keyFrom', merged.keyFrom),
    header: headerName(merged.header),
    keyFormat: oneOf('keyFormat', merged.keyFormat, ['any', 'structured']),
    fingerprint: optionalFunction('fingerprint', merged.fingerprint),
    storeIf: optionalFunction('storeIf', merged.storeIf)!,
    waitInFlight: waitInFlight(merged.inFlight),
    onAbandoned: oneOf('onAbandoned', merged.onAbandoned, ['fail', 'retry']),
    onStoreError: oneOf('onStoreError', merged.onStoreError, ['refuse', 'execute']),
    maxResponseBytes: parseByteSize('maxResponseBytes', merged.maxResponseBytes),
    headerRule: new HeaderRule(merged.replayHeaders),
    storeTimeout: timer('storeTimeout', merged.storeTimeout),
    transactionTimeout: timer('transactionTimeout', merged.transactionTimeout),
    isolation:
      merged.isolation === undefined ? undefined : oneOf('isolation', merged.isolation, ISOLATION_LEVELS),
    operation: operationName(merged.operation),
  };
}

type MergedOptions = IdempotentOptions & Required<Pick<IdempotentOptions, keyof typeof DEFAULTS>>;

function mergeLayers(layers: (IdempotentOptions | undefined)[]): MergedOptions {
  const merged: Record<string, unknown> = { ...DEFAULTS };
  for (const [name, value] of layers.flatMap((layer) => Object.entries(layer ?? {}))) {
    if (!OPTION_NAMES.has(name)) {
      throw new IdempotencyConfigurationError(
        `The option \`${name}\` does not exist here. A handler has these: ${[...OPTION_NAMES].toSorted().join(', ')}. ` +
          `\`IdempotencyModule.forRoot()\` has them too, and: batching, dataSource, documentationUrl, isGlobal, problemTypeBase, purge, store.`,
      );
    }
    if (value !== undefined) {
      merged[name] = value;
    }
  }
  return merged as unknown as MergedOptions;
}

function timer(name: string, value: unknown): number {
  const milliseconds = parseDuration(name, value);
  if (milliseconds > MAX_TIMER_DELAY) {
    throw new IdempotencyConfigurationError(
      `The option \`${name}\` is ${describe(value)}, which is longer than a timer can wait. Use at most '24d'.`,
    );
  }
  return milliseconds;
}

function waitInFlight(value: unknown): number {
  if (value === 'reject') {
    return 0;
  }
  if (typeof value === 'object' && value !== null && 'wait' in value) {
    return timer('inFlight.wait', value.wait);
  }
  throw new IdempotencyConfigurationError(
    `The option \`inFlight\` is ${describe(value)}. Use 'reject', or { wait: '5s' }.`,
  );
}

function oneOf<const T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  if (!allowed.includes(value as T)) {
    throw new IdempotencyConfigurationError(
      `The option \`${name}\` is ${describe(value)}. Use one of: ${allowed.map(describe).join(', ')}.`,
    );
  }
  return value as T;
}

function boolean(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') {
    throw new IdempotencyConfigurationError(
      `The option \`${name}\` is ${describe(value)}. Use true or false.`,
    );
  }
  return value;
}

function optionalFunction<T>(name: string, value: T): T {
  if (value !== undefined && typeof value !== 'function') {
    throw new IdempotencyConfigurationError(
      `The option \`${name}\` is ${describe(value)}. Use a function, or leave it out.`,
    );
  }
  return value;
}

function headerName(value: unknown): string {
  // A token of RFC 9110, section 5.6.2; Node gives request headers in lower case.
  if (typeof value !== 'string' || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(value)) {
    throw new IdempotencyConfigurationError(
      `The option \`header\` is ${describe(value)}, which is not a header name. Use a name such as '${IDEMPOTENCY_KEY_HEADER}'.`,
    );
  }
  return value;
}

function operationName(value: unknown): string | undefined {
  if (value !== undefined && (typeof value !== 'string' || value === '')) {
    throw new IdempotencyConfigurationError(
      `The option \`operation\` is ${describe(value)}. Use a non-empty text, such as 'create-order', or leave it out.`,
    );
  }
  return value as string | undefined;
}
