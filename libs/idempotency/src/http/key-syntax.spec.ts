import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { IdempotencyKeyInvalidError } from '../errors/key.errors.js';
import { checkKey, parseKey, type KeyFormat } from './key-syntax.js';

const FORMATS: KeyFormat[] = ['any', 'structured'];

const quote = (key: string) => `"${key.replace(/["\\]/g, String.raw`\$&`)}"`;
const character = (from: number, to: number) =>
  fc.integer({ min: from, max: to }).map((code) => String.fromCharCode(code));

const printable = character(0x20, 0x7e);
const control = fc.oneof(character(0x00, 0x08), character(0x0a, 0x1f), fc.constant('\x7f'));
const keys = fc.string({ unit: printable, minLength: 1, maxLength: 255 });
/** Texts that are nearly keys: an arbitrary text hardly ever gets past the first character. */
const nearlyKeys = fc.string({ unit: fc.constantFrom(...'"\\;=,ab *:-1? \t\x01\x7f\u00e9'), maxLength: 12 });

function readingOf(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(IdempotencyKeyInvalidError);
    return undefined;
  }
}

describe('a key', () => {
  it('is read back from its quoted form, whatever printable characters it has, with parameters or without', () => {
    fc.assert(
      fc.property(keys, fc.constantFrom('', ';a', ';a=1', '; a="b";c=?0'), (key, parameters) => {
        for (const format of FORMATS) {
          expect(parseKey(quote(key) + parameters, format)).toBe(key);
        }
      }),
    );
  });

  it('is the same in its bare form, if that has no blank, quote or comma', () => {
    fc.assert(
      fc.property(keys, (key) => {
        fc.pre(!/[ ",]/.test(key));
        expect(parseKey(key)).toBe(key);
        expect(readingOf(() => parseKey(key, 'structured'))).toBeUndefined();
      }),
    );
  });

  it('that is read has 1 to 255 printable characters, and nothing but its own error is thrown', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary', minLength: 250 }),
      nearlyKeys,
    );
    fc.assert(
      fc.property(texts, fc.constantFrom(...FORMATS), (text, format) => {
        for (const key of [readingOf(() => parseKey(text, format)), readingOf(() => checkKey(text))]) {
          expect(key ?? 'a').toMatch(/^[\x20-\x7e]{1,255}$/);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('that is quoted is read just as RFC 9651 has a String', () => {
    fc.assert(
      fc.property(nearlyKeys, (text) => {
        const value = `"${text}`;
        const [, content] = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/.exec(value) ?? [];
        const key = readingOf(() => parseKey(value));
        if (key !== undefined) {
          expect(content?.replace(/\\(.)/g, '$1')).toBe(key);
        }
        const isWhole = content !== undefined && value.trimEnd() === `"${content}"`;
        expect(isWhole && content !== '' ? key !== undefined : true).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never has a control character, quoted or not, wherever it stands', () => {
    fc.assert(
      fc.property(keys, control, fc.nat(), fc.constantFrom(...FORMATS), (key, illegal, position, format) => {
        for (const text of [key, quote(key), `${quote(key)};a="b"`]) {
          const at = position % (text.length + 1);
          const bad = text.slice(0, at) + illegal + text.slice(at);
          expect(readingOf(() => parseKey(bad, format))).toBeUndefined();
          expect(readingOf(() => checkKey(bad))).toBeUndefined();
        }
      }),
    );
  });

  it.each([undefined, null, 42, true, {}, ['a'], Symbol('a')])('is never %p', (value) => {
    expect(() => checkKey(value)).toThrow(IdempotencyKeyInvalidError);
  });

  it.each([
    ['', 'empty'],
    ['""', 'empty'],
    ['k'.repeat(256), '256 characters'],
    ['a, b', 'comma'],
    ['a b', 'visible ASCII'],
    ['"a', 'quoted key'],
  ])('%j is refused with the reason', (value, reason) => {
    expect(() => parseKey(value)).toThrow(reason);
  });
});
