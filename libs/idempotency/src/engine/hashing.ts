import { hash } from 'node:crypto';

type Part = string | Uint8Array;

/** Bytes of what most requests hash, and more. What is hashed is not needed afterwards, so all of them use one buffer. */
const SCRATCH = Buffer.allocUnsafeSlow(16 * 1024);

const LENGTH_BYTES = 4;

/** In UTF-8, of a character of a text as JavaScript counts them. */
const MOST_BYTES_OF_CHARACTER = 3;

/**
 * SHA-256 over parts that each carry their length, so that no choice of parts can be mistaken for
 * another one: with a delimiter, scope `a` + key `b::c` and scope `a::b` + key `c` would collide.
 *
 * @param domain says what is hashed, so that hashes of different kinds never meet; it carries a version
 */
export function hashParts(domain: string, parts: readonly Part[]): Buffer {
  const all: readonly Part[] = [domain, ...parts];
  const input = fitsScratch(all) ? SCRATCH : Buffer.allocUnsafe(bytesOf(all));
  const end = all.reduce((offset, part) => append(input, offset, part), 0);
  // By way of a text, since a buffer that is made by the hash has memory of its own, which costs more than the hash.
  return Buffer.from(hash('sha256', input.subarray(0, end), 'binary'), 'binary');
}

/** @returns where the next part goes */
function append(input: Buffer, offset: number, part: Part): number {
  const start = offset + LENGTH_BYTES;
  const length = typeof part === 'string' ? input.write(part, start) : copy(part, input, start);
  input.writeUInt32BE(length, offset);
  return start + length;
}

function copy(part: Uint8Array, input: Buffer, start: number): number {
  input.set(part, start);
  return part.byteLength;
}

function fitsScratch(parts: readonly Part[]): boolean {
  const characters = parts.reduce((sum, part) => sum + part.length, 0);
  return characters * MOST_BYTES_OF_CHARACTER + parts.length * LENGTH_BYTES <= SCRATCH.byteLength;
}

function bytesOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + LENGTH_BYTES + Buffer.byteLength(part), 0);
}
