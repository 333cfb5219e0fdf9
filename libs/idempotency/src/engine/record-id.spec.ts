import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';

import { recordId, type RecordIdentity } from './record-id.js';

const idOf = (scope: string | null, operation: string, key: string): string =>
  recordId({ scope, operation, key }).toString('hex');

describe('the id of a record', () => {
  it.each([
    [
      ['a', 'POST /', 'b::c'],
      ['a::b', 'POST /', 'c'],
    ],
    [
      ['a', 'POST /', 'b'],
      ['aPOST /', '', 'b'],
    ],
    [
      ['ab', 'c', 'd'],
      ['a', 'bc', 'd'],
    ],
    [
      ['a', 'bc', 'd'],
      ['a', 'b', 'cd'],
    ],
    [
      ['', 'a', 'b'],
      ['a', '', 'b'],
    ],
    [
      [null, 'POST /', 'a'],
      ['', 'POST /', 'a'],
    ],
    [
      [null, 'POST /', 'a'],
      ['shared', 'POST /', 'a'],
    ],
    [
      [null, 'POST /', 'a'],
      ['null', 'POST /', 'a'],
    ],
    [
      ['a', 'POST /', 'k'],
      ['A', 'POST /', 'k'],
    ],
    [
      ['a', 'POST /', 'k'],
      ['a', 'POST /', 'K'],
    ],
    [
      ['\u00e9', 'POST /', 'k'],
      ['e\u0301', 'POST /', 'k'],
    ],
  ] as [Parameters<typeof idOf>, Parameters<typeof idOf>][])('of %j is not that of %j', (one, other) => {
    expect(idOf(...one)).not.toBe(idOf(...other));
  });

  it('is that of another identity only if both are equal', () => {
    const part = fc.string({ unit: fc.constantFrom('a', ':', '/', '\0', '\x04', ' '), maxLength: 3 });
    const identity: fc.Arbitrary<RecordIdentity> = fc.record(
      { scope: fc.option(part), operation: part, key: part },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        expect(recordId(one).equals(recordId(other))).toBe(isDeepStrictEqual(one, other));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is 32 bytes, however long its parts are', () => {
    expect(recordId({ scope: 's'.repeat(10_000), operation: '', key: 'k'.repeat(255) })).toHaveLength(32);
  });
});
