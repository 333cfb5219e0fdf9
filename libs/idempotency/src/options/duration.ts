import { inspect } from 'node:util';
import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A hundred years: what is longer was not meant, and does not fit the database's times. */
const LONGEST_DURATION = 100 * 365 * UNITS.d;

/** The longest delay that `setTimeout` takes; a longer one would fire at once. */
export const MAX_TIMER_DELAY = 2 ** 31 - 1;

/**
 * A length of time: a number of milliseconds, or a number with a unit, such as `'500ms'`, `'30s'`,
 * `'5m'`, `'24h'` or `'7d'`.
 *
 * @publicApi
 */
export type Duration = number | `${number}${keyof typeof UNITS}`;

/** A number of bytes, or a number with a unit, such as `'64kb'` or `'1mb'` (1 kb = 1024 bytes). @publicApi */
export type ByteSize = number | `${number}${'b' | 'kb' | 'mb'}`;

const SIZE_UNITS = { b: 1, kb: 1024, mb: 1024 * 1024 } as const;

/**
 * @param name the option's name, for the message
 * @returns whole milliseconds
 * @throws IdempotencyConfigurationError for anything that is not a positive duration
 */
export function parseDuration(name: string, value: unknown): number {
  const milliseconds = parseQuantity(value, UNITS);
  if (milliseconds === undefined || milliseconds < 1) {
    throw new IdempotencyConfigurationError(
      `The option \`${name}\` is ${describe(value)}, which is not a duration. ` +
        `Use a positive number of milliseconds, or a text such as '500ms', '30s', '5m', '24h' or '7d'.`,
    );
  }
  if (milliseconds > LONGEST_DURATION) {
    throw new IdempotencyConfigurationError(
      `The option \`${name}\` is ${describe(value)}, which is longer than a hundred years. Use a shorter time.`,
    );
  }
  return milliseconds;
}

/** @throws IdempotencyConfigurationError for anything that is not a positive size */
export function parseByteSize(name: string, value: unknown): number {
  const bytes = parseQuantity(value, SIZE_UNITS);
  if (bytes === undefined || bytes < 1) {
    throw new IdempotencyConfigurationError(
      `The option \`${name}\` is ${describe(value)}, which is not a size. ` +
        `Use a positive number of bytes, or a text such as '64kb' or '1mb'.`,
    );
  }
  return bytes;
}

function parseQuantity(value: unknown, units: Readonly<Record<string, number>>): number | undefined {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? Math.round(value) : undefined;
  }
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(value.trim()) : null;
  const unit = match ? units[match[2]!.toLowerCase()] : undefined;
  return match && unit !== undefined ? Math.round(Number(match[1]) * unit) : undefined;
}

/** How a message shows a wrong value. @internal */
export function describe(value: unknown): string {
  if (typeof value === 'string') {
    return `'${value}'`;
  }
  return typeof value === 'object' && value !== null
    ? inspect(value, { breakLength: Infinity })
    : String(value);
}
