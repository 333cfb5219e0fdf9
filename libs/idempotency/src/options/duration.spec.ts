import { describe, expect, it } from '@jest/globals';

import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { parseByteSize, parseDuration } from './duration.js';

describe('a duration', () => {
  it.each([
    [1, 1],
    [1_500, 1_500],
    [1.6, 2],
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['1.5h', 5_400_000],
    ['2 H', 7_200_000],
  ])('%p is %d ms', (value, milliseconds) => {
    expect(parseDuration('ttl', value)).toBe(milliseconds);
  });

  it.each([
    [0, '0'],
    [-1, '-1'],
    [0.4, '0.4'],
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    ['0s', "'0s'"],
    ['-5s', "'-5s'"],
    ['5', "'5'"],
    ['', "''"],
    ['s', "'s'"],
    ['5w', "'5w'"],
    ['1e3s', "'1e3s'"],
    ['5s 3ms', "'5s 3ms'"],
    [null, 'null'],
    [true, 'true'],
    [{}, ''],
    [[5], '[ 5 ]'],
  ])('is not %p, and the message names option, value and fix', (value, shown) => {
    const parse = () => parseDuration('lockTtl', value);

    expect(parse).toThrow(IdempotencyConfigurationError);
    expect(parse).toThrow(`\`lockTtl\` is ${shown}`);
    expect(parse).toThrow(/Use a positive number of milliseconds.*'30s'/);
  });
});

describe('a size', () => {
  it.each([
    [1, 1],
    [4_096, 4_096],
    ['10b', 10],
    ['64kb', 65_536],
    ['1mb', 1_048_576],
    ['1.5KB', 1_536],
  ])('%p is %d bytes', (value, bytes) => {
    expect(parseByteSize('maxResponseBytes', value)).toBe(bytes);
  });

  it.each([
    [0, '0'],
    [-1, '-1'],
    [NaN, 'NaN'],
    ['0kb', "'0kb'"],
    ['5', "'5'"],
    ['1gb', "'1gb'"],
    ['1s', "'1s'"],
    [null, 'null'],
  ])('is not %p, and the message names option, value and fix', (value, shown) => {
    const parse = () => parseByteSize('maxResponseBytes', value);

    expect(parse).toThrow(IdempotencyConfigurationError);
    expect(parse).toThrow(`\`maxResponseBytes\` is ${shown}`);
    expect(parse).toThrow(/Use a positive number of bytes.*'1mb'/);
  });
});
