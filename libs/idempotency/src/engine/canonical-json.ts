import * as canonicalizeModule from 'canonicalize';

/** The package is CommonJS with `module.exports = function`, which its types describe as an ES default. */
const canonicalize = canonicalizeModule.default as unknown as (value: unknown) => string | undefined;

/**
 * JSON in the canonical form of RFC 8785: the order of keys does not matter, everything else does.
 *
 * @returns an empty text for what JSON leaves out (a function, `undefined`)
 * @throws for a cycle, a BigInt, NaN or an infinite number, and for an object whose content JSON does not show
 */
export function canonicalJson(value: unknown): string {
  refuseOpaque(value, new Set());
  return canonicalize(value) ?? '';
}

/** A Map, a Blob or a stream is `{}` in JSON whatever it holds: two different ones would pass for the same. */
function refuseOpaque(value: unknown, ancestors: Set<object>): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) {
    return;
  }
  if (ancestors.has(value)) {
    throw new TypeError('The value contains itself, which JSON cannot show.');
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return;
  }
  const children = Object.values(value);
  if (isOpaque(value, children.length)) {
    throw new TypeError(`A ${value.constructor?.name ?? 'value'} has content that JSON does not show.`);
  }
  ancestors.add(value);
  children.forEach((child) => refuseOpaque(child, ancestors));
  ancestors.delete(value);
}

function isOpaque(value: object, propertyCount: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || prototype === Object.prototype || Array.isArray(value);
  return !isPlain && (propertyCount === 0 || 'pipe' in value);
}
