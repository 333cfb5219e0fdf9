import { describe, expect, it } from '@jest/globals';

import { readOptions } from './options.js';
import { variantsOf } from './plan/contestants.js';

describe('the options', () => {
  it('measure everything, unless the run is to be quick', () => {
    const full = readOptions([]);
    expect(full.cases).toEqual(['S1', 'S2', 'S3', 'S4', 'S5', 'S6']);
    expect(variantsOf('S1', 'fastify', full)).toContain('node-idempotency');
  });

  it('measure in a quick run what the figures of each adapter need', () => {
    const quick = readOptions(['--quick']);
    expect(quick.cases).toEqual(['S1', 'S2', 'S3', 'S4']);
    expect(quick.rounds).toBeGreaterThanOrEqual(3);
    const compared = ['bare', 'lease', 'lease-redis', 'recipe', 'node-idempotency'];
    expect(variantsOf('S1', 'express', quick)).toEqual(compared);
    expect(variantsOf('S1', 'fastify', quick)).toEqual(compared);
    expect(variantsOf('S2', 'fastify', quick)).toEqual(['bare', 'transaction']);
  });

  it('choose what is worked on', () => {
    const options = readOptions([
      '--quick',
      '--cases',
      'S2,S4',
      '--variants',
      'bare,transaction',
      '--rounds',
      '2',
    ]);
    expect(options).toMatchObject({ cases: ['S2', 'S4'], rounds: 2 });
    expect(variantsOf('S2', 'express', options)).toEqual(['bare', 'transaction']);
    expect(variantsOf('S4', 'express', options)).toEqual(['transaction']);
  });

  it.each([
    [['--variants', 'lease,leese'], "--variants has 'leese'"],
    [['--rounds', '1.5'], "--rounds is '1.5'"],
    [['--seconds', '0'], "--seconds is '0'"],
    [['--fast'], '--fast'],
    [['--memory', '--write'], 'leave --write out'],
  ])('refuse %j, and say why', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});
