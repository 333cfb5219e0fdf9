import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { describe, MAX_TIMER_DELAY, parseDuration } from './duration.js';
import type { IdempotentOptions } from './idempotent-options.interface.js';
import type { IdempotencyModuleOptions } from './module-options.interface.js';
import { checkFields } from './known-fields.js';
import { resolveOptions } from './resolve-options.js';

/** The default of `problemTypeBase`: names that identify, and lead nowhere. */
export const DEFAULT_PROBLEM_TYPE_BASE = 'urn:exactly-once:problem:';

/** @internal */
export interface ResolvedModuleOptions {
  /** What every handler starts from. */
  readonly handlerDefaults: IdempotentOptions;
  readonly documentationUrl: string | undefined;
  readonly problemTypeBase: string;
  readonly batching: boolean;
  readonly purge: { readonly interval: number; readonly batchSize: number } | false;
}

/** Checks the options of the module once, at start-up. @throws IdempotencyConfigurationError */
export function resolveModuleOptions(options: IdempotencyModuleOptions | undefined): ResolvedModuleOptions {
  const { documentationUrl, problemTypeBase, purge, batching = true, ...handlerDefaults } = options ?? {};
  resolveOptions(handlerDefaults);
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
    batching,
    documentationUrl: documentationUrl === undefined ? undefined : url('documentationUrl', documentationUrl),
    problemTypeBase: url('problemTypeBase', problemTypeBase ?? DEFAULT_PROBLEM_TYPE_BASE),
    purge: purge === false ? false : { interval: purgeInterval(purge), batchSize: batchSize(purge) },
  };
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
