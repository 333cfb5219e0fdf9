import { InMemoryIdempotencyStore } from '@exactly-once/nestjs';
import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { describe, it } from '@jest/globals';

describe.each([16, 64])('the in-memory store keeps the contract, %d callers', (callers) => {
  const store = new InMemoryIdempotencyStore();
  const passTime = async (milliseconds: number) => store.moveClock(milliseconds);
  for (const { name, run } of idempotencyStoreContract(() => store, { callers, passTime })) it(name, run);
});
