import { parseItem, Token } from 'structured-headers';
import { IdempotencyKeyInvalidError } from '../errors/key.errors.js';

/** @publicApi */
export type KeyFormat = 'any' | 'structured';

/** Longest key in characters, as Stripe and `@nestjs/idempotency` have it. */
export const MAX_KEY_LENGTH = 255;

/**
 * Reads the value of one `Idempotency-Key` field line into the key's canonical form. The quoted form is a
 * Structured Field String (RFC 9651, section 3.3.3); its parameters are ignored. The bare form is visible
 * ASCII without `"` and `,`, so that two field lines joined by an intermediary are never taken for one key.
 *
 * @throws IdempotencyKeyInvalidError
 */
export function parseKey(value: string, format: KeyFormat = 'any'): string {
  const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, '');
  if (trimmed.startsWith('"')) {
    return checkLength(parseQuoted(trimmed));
  }
  if (format === 'structured') {
    throw new IdempotencyKeyInvalidError('The key must be a quoted Structured Field String.');
  }
  if (trimmed.includes(',')) {
    throw new IdempotencyKeyInvalidError(
      'An unquoted key must not contain a comma, and only one key can be sent.',
    );
  }
  return checkLength(checkBare(trimmed));
}

/**
 * Checks a key that did not come from a header (`keyFrom`): any text of printable ASCII.
 *
 * @throws IdempotencyKeyInvalidError
 */
export function checkKey(value: unknown): string {
  if (typeof value !== 'string' || !/^[\x20-\x7e]*$/.test(value)) {
    throw new IdempotencyKeyInvalidError('The key must consist of printable ASCII characters.');
  }
  return checkLength(value);
}

function parseQuoted(value: string): string {
  try {
    const [bare] = parseItem(value);
    if (typeof bare === 'string' && !((bare as unknown) instanceof Token)) {
      return bare;
    }
  } catch {
    // Answered below, in our own words: the parser's name offsets of a text that the client has not seen.
  }
  throw new IdempotencyKeyInvalidError('The quoted key is not a valid Structured Field String.');
}

function checkBare(value: string): string {
  if (!/^[\x21\x23-\x7e]*$/.test(value)) {
    throw new IdempotencyKeyInvalidError(
      'An unquoted key must consist of visible ASCII characters without quotes.',
    );
  }
  return value;
}

function checkLength(key: string): string {
  if (key.length === 0 || key.length > MAX_KEY_LENGTH) {
    throw new IdempotencyKeyInvalidError(
      key.length === 0 ? 'The key is empty.' : `The key has ${key.length} characters.`,
    );
  }
  return key;
}
