import { describe, expect, it } from '@jest/globals';

import { isLinearizable } from './linearization.js';
import { OWNERS, type Operation } from './operation.js';

const [FIRST, SECOND] = OWNERS;

const claim = (owner: typeof FIRST | typeof SECOND): Operation => ({
  type: 'claim',
  record: 'first',
  owner,
  fingerprint: 'x',
  takeOverAbandoned: false,
});
const claimed = { type: 'claimed', attempt: 1, steps: null };
const inFlight = (owner: string) => ({ type: 'in-flight', owner, fingerprint: 'x' });

describe('answers to operations beside each other', () => {
  it('are explained when one order gives them, whichever was begun first', () => {
    expect(
      isLinearizable([
        { operation: claim(FIRST), begun: 1, ended: 3, answer: inFlight(SECOND) },
        { operation: claim(SECOND), begun: 2, ended: 4, answer: claimed },
      ]),
    ).toBe(true);
  });

  it('are not explained when two claims of one record are granted', () => {
    expect(
      isLinearizable([
        { operation: claim(FIRST), begun: 1, ended: 3, answer: claimed },
        { operation: claim(SECOND), begun: 2, ended: 4, answer: claimed },
      ]),
    ).toBe(false);
  });

  it('are not explained by an operation that began after they were given', () => {
    expect(
      isLinearizable([
        { operation: claim(FIRST), begun: 1, ended: 2, answer: inFlight(SECOND) },
        { operation: claim(SECOND), begun: 3, ended: 4, answer: claimed },
      ]),
    ).toBe(false);
  });

  it('may leave what a purge meets while somebody works on it, but not what nobody works on', () => {
    const past: Operation[] = [
      claim(FIRST),
      { type: 'endRetention', record: 'first' },
      { type: 'lapseLease', record: 'first' },
    ];
    const calls = [
      ...past.map((operation, index) => ({
        operation,
        begun: 2 * index + 1,
        ended: 2 * index + 2,
        answer: index === 0 ? claimed : undefined,
      })),
      { operation: { type: 'purge' } as const, begun: 7, ended: 9, answer: 0 },
    ];
    const renewal = {
      operation: { type: 'renew', record: 'first', owner: SECOND } as const,
      ended: 11,
      answer: false,
    };

    expect(isLinearizable([...calls, { ...renewal, begun: 8 }])).toBe(true);
    expect(isLinearizable([...calls, { ...renewal, begun: 10 }])).toBe(false);
  });
});
