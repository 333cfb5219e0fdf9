import { sha256 } from './sha-256.js';

/**
 * A key made from what makes an operation unique, so that concurrent calls, and calls after a crash, send the same one:
 * `await deriveKey('customer-create', user.id)`. Numbers count as their text. 64 hexadecimal digits.
 *
 * @throws TypeError for a part that is no text and no number
 * @publicApi
 */
export async function deriveKey(...parts: (string | number | bigint)[]): Promise<string> {
  if (
    parts.length === 0 ||
    !parts.every((part) => /^(string|bigint)$/.test(typeof part) || Number.isFinite(part))
  ) {
    throw new TypeError('Each part of a key must be a text or a number.');
  }
  const key = await sha256(JSON.stringify(['exactly-once/1', ...parts.map(String)]));
  if (key === undefined) {
    throw new TypeError('Browsers can derive keys on secure pages only.');
  }
  return key;
}
