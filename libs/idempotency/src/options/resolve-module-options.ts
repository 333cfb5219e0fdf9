import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { describe, MAX_TIMER_DELAY, parseDuration } from './duration.js';
import type { IdempotentOptions } from './idempotent-options.interface.js';
import type { IdempotencyModuleOptions } from './module-options.interface.js';
import { checkFields } from './known-fields.js';
import { resolveOptions } from './resolve-options.js';
import type { ResolvedOptions } from './resolved-options.js';
import type { IdempotencyStore } from '../store/idempotency-store.interface.js';

/** The default of `problemTypeBase`: names that identify, and lead nowhere. */
export const DEFAULT_PROBLEM_TYPE_BASE = 'urn:exactly-once:problem:';

/** @internal */
export interface ResolvedModuleOptions {
  /** What every handler starts from. */
  readonly handlerDefaults: IdempotentOptions;
  /** `undefined`: Postgres, on the configured DataSource. */
  readonly store: IdempotencyStore | undefined;
  readonly documentationUrl: string | undefined;
  readonly problemTypeBase: string;
  readonly batching: boolean;
  readonly purge: { readonly interval: number; readonly batchSize: number } | false;
}

/** Checks the options of the module once, at start-up. @throws IdempotencyConfigurationError */
export function resolveModuleOptions(options: IdempotencyModuleOptions | undefined): ResolvedModuleOptions {
  const {
    documentationUrl,
    problemTypeBase,
    purge,
    batching = true,
    store,
    ...defaults
  } = options ?? ({} as Partial<IdempotencyModuleOptions>);
  if (store !== undefined) {
    checkStore(store);
  }
  const handlerDefaults = store ? { ...defaults, mode: defaults.mode ?? 'lease' } : defaults;
  resolveHandlerOptions({ handlerDefaults, store });
  if (purge !== false) {
    checkFields('purge', purge, ['interval', 'batchSize'], '; or false');
  }
  if (typeof batching !== 'boolean') {
    throw new IdempotencyConfigurationError(
      `The option \`batching\` is ${describe(batching)}. Use true or false.`,
    );
  }
  return {
    handlerDefaults,
    store,
    batching,
    documentationUrl: documentationUrl === undefined ? undefined : url('documentationUrl', documentationUrl),
    problemTypeBase: url('problemTypeBase', problemTypeBase ?? DEFAULT_PROBLEM_TYPE_BASE),
    purge: purge === false ? false : { interval: purgeInterval(purge), batchSize: batchSize(purge) },
  };
}

/**
 * The options of one handler, or of one call outside HTTP.
 *
 * @throws IdempotencyConfigurationError naming the option, its value and the fix
 */
export function resolveHandlerOptions(
  { handlerDefaults, store }: Pick<ResolvedModuleOptions, 'handlerDefaults' | 'store'>,
  ...layers: (IdempotentOptions | undefined)[]
): ResolvedOptions {
  const options = resolveOptions(handlerDefaults, ...layers);
  if (store && options.mode === 'transaction') {
    throw new IdempotencyConfigurationError(
      `The option \`mode\` is 'transaction', and the records are in ${nameOf(store)}, which cannot commit together with ` +
        `what the handler writes to its database: a crash between the two commits would lose one of them. Use ` +
        `\`mode: 'lease'\`, or leave the option \`store\` out to keep the records in Postgres.`,
    );
  }
  return options;
}

const STORE_METHODS = [
  'claim',
  'complete',
  'release',
  'renew',
  'recordSteps',
  'find',
  'inspect',
  'releaseAbandoned',
] as const satisfies (keyof IdempotencyStore)[];

function checkStore(store: unknown): void {
  const missing = STORE_METHODS.filter(
    (method) => typeof (store as Record<string, unknown> | null)?.[method] !== 'function',
  );
  if (missing.length > 0) {
    throw new IdempotencyConfigurationError(
      `The option \`store\` is ${describe(store)}, which is not an IdempotencyStore: it has no ${missing.join('(), no ')}(). ` +
        `Use one such as \`new RedisIdempotencyStore(url)\` of '@exactly-once/redis', or leave it out to use Postgres.`,
    );
  }
}

function nameOf(store: object): string {
  return `the store ${store.constructor.name}`;
}

type Purge = Exclude<IdempotencyModuleOptions['purge'], false>;

function purgeInterval(purge: Purge): number {
  return Math.min(parseDuration('purge.interval', purge?.interval ?? '1m'), MAX_TIMER_DELAY);
}

function batchSize(purge: Purge): number {
  const size = purge?.batchSize ?? 1000;
  if (!Number.isInteger(size) || size < 1 || size > 100_000) {
    throw new IdempotencyConfigurationError(
      `The option \`purge.batchSize\` is ${describe(size)}. Use a whole number from 1 to 100000.`,
    );
  }
  return size;
}

function url(name: string, value: unknown): string {
  if (typeof value !== 'string' || !URL.canParse(value) || /[<>"\s]/.test(value)) {
    throw new IdempotencyConfigurationError(
      `The option \`${name}\` is ${describe(value)}, which is not an absolute URL. Use one such as 'https://example.com/docs/idempotency'.`,
    );
  }
  return new URL(value).href;
}
