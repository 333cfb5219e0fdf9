import { createHash } from 'node:crypto';

/**
 * SHA-256 over parts that each carry their length, so that no choice of parts can be mistaken for
 * another one: with a delimiter, scope `a` + key `b::c` and scope `a::b` + key `c` would collide.
 *
 * @param domain says what is hashed, so that hashes of different kinds never meet; it carries a version
 */
export function hashParts(domain: string, parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of [domain, ...parts]) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32BE(bytes.byteLength);
    hash.update(length).update(bytes);
  }
  return hash.digest();
}
