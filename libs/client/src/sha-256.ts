import { hex } from './key.js';

/** Hexadecimal; undefined where the page is not a secure one, and has no `crypto.subtle`. */
export async function sha256(text: string): Promise<string | undefined> {
  const digest = await crypto.subtle?.digest('SHA-256', new TextEncoder().encode(text));
  return digest && hex(new Uint8Array(digest));
}
