import { describe, expect, it } from '@jest/globals';

import { readOptions, UsageError } from './options.js';

describe('Options of the chaos run', () => {
  it('by default the records are in Postgres, in both modes, one after the other', () => {
    expect(readOptions([])).toMatchObject({ store: 'postgres', modes: ['transaction', 'lease'] });
  });

  it.each([[[]], [['--mode', 'both']], [['--mode', 'lease']]])(
    'with Redis and %j there is lease mode alone',
    (mode) => {
      expect(readOptions(['--store', 'redis', ...mode])).toMatchObject({
        store: 'redis',
        modes: ['lease'],
        persistence: true,
      });
    },
  );

  it.each([
    ['--store redis --mode transaction', /--mode is 'transaction'.*in Redis/],
    ['--store redis --mode both --break unique-key', /--break is 'unique-key'.*fencing/],
    ['--store redis --batching off', /--batching is about statements to Postgres/],
    ['--persistence off', /--persistence .* needs --store redis/],
    ['--store redis --persistence never', /--persistence is 'never'.*on, off/],
    ['--store mysql', /--store is 'mysql'.*postgres, redis/],
  ])('%s is refused with its reason', (line, reason) => {
    const read = () => readOptions(line.split(' '));

    expect(read).toThrow(UsageError);
    expect(read).toThrow(reason);
  });
});
