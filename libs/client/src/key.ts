import type { KeyStyle } from './options.js';

/** A random UUID, or as many random digits where a browser has none: on a page that is tried out by its IP address. */
export function newKey(): string {
  return crypto.randomUUID?.() ?? hex(crypto.getRandomValues(new Uint8Array(16)));
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The value of the header.
 *
 * @throws TypeError for a key that cannot be sent
 */
export function writeKey(key: string, style: KeyStyle): string {
  if (typeof key !== 'string' || !/^[ -~]{1,255}$/.test(key)) {
    throw new TypeError('A key must be 1 to 255 printable ASCII characters.');
  }
  if (style === 'structured') {
    return `"${key.replace(/["\\]/g, '\\$&')}"`;
  }
  // A space at an end, a quote or a comma would be read as something else than a part of the key.
  if (/[ ",]/.test(key)) {
    throw new TypeError("A key with a space, a quote or a comma needs keyStyle 'structured'.");
  }
  return key;
}
