import { describe, expect, it } from '@jest/globals';
import fc, { type JsonValue } from 'fast-check';
import { isDeepStrictEqual } from 'node:util';

import { fingerprintOf, type FingerprintInput } from './fingerprint.js';

const REQUEST: FingerprintInput = {
  method: 'POST',
  path: '/orders',
  query: 'a=1&b=2',
  contentType: 'application/json',
  body: { amount: 100 },
};

const hashOf = (changes: Partial<FingerprintInput>): string =>
  fingerprintOf({ ...REQUEST, ...changes }).toString('hex');

const bodies = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }).map(asParsed);
const leaves = fc
  .oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
  .map(asParsed);

/** What a body parser gives: JSON has no negative zero. */
function asParsed(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value));
}

const isObject = (value: unknown): value is Record<string, JsonValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same value with the keys of all objects in another order. */
function reordered(value: JsonValue, turn: number): JsonValue {
  if (Array.isArray(value)) {
    return value.map((item) => reordered(item, turn));
  }
  if (!isObject(value)) {
    return value;
  }
  const entries = Object.entries(value).map(([name, item]) => [name, reordered(item, turn + 1)] as const);
  const start = entries.length === 0 ? 0 : turn % entries.length;
  return Object.fromEntries([...entries.slice(start), ...entries.slice(0, start)].toReversed());
}

/** All values that have one leaf replaced. */
function* withOtherLeaf(value: JsonValue, leaf: JsonValue): Generator<JsonValue> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const changed of withOtherLeaf(item, leaf)) yield value.with(index, changed);
    }
  } else if (isObject(value)) {
    const entries = Object.entries(value);
    for (const [index, [name, item]] of entries.entries()) {
      for (const changed of withOtherLeaf(item, leaf)) {
        yield Object.fromEntries(entries.with(index, [name, changed]));
      }
    }
  } else if (value !== leaf) {
    yield leaf;
  }
}

describe('the hash of a body', () => {
  it('does not change with the order of keys, at any depth', () => {
    fc.assert(
      fc.property(bodies, fc.nat(20), (body, turn) => {
        expect(hashOf({ body: reordered(body, turn) })).toBe(hashOf({ body }));
      }),
      { numRuns: 500 },
    );
  });

  it('changes with every value in it', () => {
    fc.assert(
      fc.property(bodies, leaves, (body, leaf) => {
        const changed = [...withOtherLeaf(body, leaf)];
        for (const other of changed) {
          expect(hashOf({ body: other })).not.toBe(hashOf({ body }));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('changes when a key or an item comes or goes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), bodies), fc.string(), bodies, (object, name, value) => {
        fc.pre(!Object.hasOwn(object, name));
        const more = Object.fromEntries([...Object.entries(object), [name, value]]);
        expect(hashOf({ body: more })).not.toBe(hashOf({ body: object }));
        expect(hashOf({ body: [object, value] })).not.toBe(hashOf({ body: [object] }));
      }),
    );
  });

  it('is that of another body only if both are equal', () => {
    const small = fc
      .jsonValue({ maxDepth: 1, stringUnit: fc.constantFrom('a', '"', '\\', '1') })
      .map(asParsed);
    fc.assert(
      fc.property(small, small, (one, other) => {
        expect(hashOf({ body: one }) === hashOf({ body: other })).toBe(isDeepStrictEqual(one, other));
      }),
      { numRuns: 2_000 },
    );
  });

  it('tells text, bytes, JSON and nothing apart', () => {
    const kinds = [undefined, '', '{}', {}, [], Buffer.from('{}'), new Uint8Array(0), 'null'];
    expect(new Set(kinds.map((body) => hashOf({ body }))).size).toBe(kinds.length);
  });

  it('counts bytes inside of JSON', () => {
    for (const [one, other] of [
      [Buffer.from('1'), Buffer.from('2')],
      [new Uint8Array([1]), new Uint8Array([2])],
    ]) {
      expect(hashOf({ body: { file: one } })).not.toBe(hashOf({ body: { file: other } }));
    }
  });

  it.each([
    [
      'a cycle',
      () => {
        const body: Record<string, unknown> = {};
        body['self'] = body;
        return body;
      },
    ],
    ['a BigInt', () => ({ amount: 1n })],
    ['NaN', () => ({ amount: NaN })],
    ['an infinite number', () => [Infinity]],
    ['a Map', () => ({ map: new Map([[1, 2]]) })],
    ['a Set', () => [new Set([1])]],
    ['a Blob', () => ({ file: new Blob(['content']) })],
  ])('does not exist for %s', (_, body) => {
    expect(() => hashOf({ body: body() })).toThrow(Error);
  });
});

describe('the fingerprint', () => {
  const file = { field: 'receipt', name: 'a.pdf', type: 'application/pdf', content: Buffer.from('100') };

  it.each<[string, Partial<FingerprintInput>]>([
    ['method', { method: 'PATCH' }],
    ['path', { path: '/orders/1' }],
    ['query', { query: 'a=1' }],
    ['value of the query', { query: 'a=1&b=3' }],
    ['content type', { contentType: 'application/x-www-form-urlencoded' }],
    ['body', { body: { amount: 200 } }],
    ['file', { files: [file] }],
  ])('changes with the %s', (_, changes) => {
    expect(hashOf(changes)).not.toBe(hashOf({}));
  });

  it.each<[string, Partial<typeof file>]>([
    ['field', { field: 'photo' }],
    ['name', { name: 'b.pdf' }],
    ['type', { type: 'text/plain' }],
    ['content', { content: Buffer.from('900') }],
  ])('changes with the %s of a file', (_, changes) => {
    expect(hashOf({ files: [{ ...file, ...changes }] })).not.toBe(hashOf({ files: [file] }));
  });

  it('changes with the order of files', () => {
    const other = { ...file, content: Buffer.from('900') };
    expect(hashOf({ files: [file, other] })).not.toBe(hashOf({ files: [other, file] }));
  });

  it.each<[string, Partial<FingerprintInput>]>([
    ['the case of the method', { method: 'post' }],
    ['the order of the query', { query: 'b=2&a=1' }],
    ['the case of the content type', { contentType: 'Application/JSON' }],
  ])('does not change with %s', (_, changes) => {
    expect(hashOf(changes)).toBe(hashOf({}));
  });

  it('keeps its parts apart', () => {
    expect(hashOf({ path: '/orders', query: 'x' })).not.toBe(hashOf({ path: '/ordersx', query: '' }));
    expect(hashOf({ query: 'a=1&b=2' })).not.toBe(hashOf({ query: 'a=1%26b=2' }));
  });

  it('is 32 bytes', () => {
    expect(fingerprintOf(REQUEST)).toHaveLength(32);
  });
});
