import { hash } from 'node:crypto';

/**
 * SHA-256 over parts that each carry their length, so that no choice of parts can be mistaken for
 * another one: with a delimiter, scope `a` + key `b::c` and scope `a::b` + key `c` would collide.
 *
 * @param domain says what is hashed, so that hashes of different kinds never meet; it carries a version
 */
export function hashParts(domain: string, parts: readonly (string | Uint8Array)[]): Buffer {
  const all = [domain, ...parts];
  const input = Buffer.allocUnsafe(all.reduce((sum, part) => sum + 4 + Buffer.byteLength(part), 0));
  let offset = 0;
  for (const part of all) {
    const start = offset + 4;
    const length =
      typeof part === 'string' ? input.write(part, start) : (input.set(part, start), part.byteLength);
    input.writeUInt32BE(length, offset);
    offset = start + length;
  }
  return hash('sha256', input, 'buffer');
}
