import { expect, it } from '@jest/globals';
import { AbandonedAttempts } from './abandoned-attempts.js';

it('remembers a thousand abandoned attempts, and tells again of what it had to forget', () => {
  const messages: string[] = [];
  const attempts = new AbandonedAttempts({
    warn: (message) => messages.push(message),
    error: () => undefined,
  });
  const tell = (owner: number): void =>
    attempts.tell({ operation: 'pay', scope: null, key: `k${owner}` }, String(owner));
  for (let owner = 0; owner < 1_000; owner += 1) tell(owner);
  for (let owner = 0; owner < 1_000; owner += 1) tell(owner);
  expect(messages).toHaveLength(1_000);

  tell(1_000);
  tell(0);
  tell(999);
  expect(messages.slice(1_000).map((message) => /key (k\d+)/.exec(message)![1])).toEqual(['k1000', 'k0']);
});
