import type { User } from './user.js';

/** The bearer tokens that are accepted. A real application verifies a signed token here instead. */
export const DEMO_USERS: ReadonlyMap<string, User> = new Map([
  ['demo-alice', { id: 'alice', name: 'Alice' }],
  ['demo-bob', { id: 'bob', name: 'Bob' }],
]);
