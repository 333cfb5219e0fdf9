import * as canonicalizeModule from 'canonicalize';

/** The package is CommonJS with `module.exports = function`, which its types describe as an ES default. */
const canonicalize = canonicalizeModule.default as unknown as (value: unknown) => string | undefined;

/**
 * JSON in the canonical form of RFC 8785: the order of keys does not matter, everything else does.
 *
 * @returns an empty text for what JSON leaves out (a function, `undefined`)
 * @throws for a cycle, a BigInt, NaN or an infinite number
 */
export function canonicalJson(value: unknown): string {
  return canonicalize(value) ?? '';
}
