import { idempotencyStoreContract, type IdempotencyStore } from '@exactly-once/nestjs/testing';
import { describe, it } from '@jest/globals';

import { CALLERS, type StoreName } from './contract-stores.js';
import { blockTitles } from './contract-titles.js';

export interface ContractSubject {
  store: StoreName;
  /** Where its records are, with the version that the server tells. */
  server: string;
  /** Called once for each case. */
  open: () => IdempotencyStore;
  /** @default waits */
  passTime?: (milliseconds: number) => Promise<unknown>;
}

/** The cases of the contract, in blocks that `npm run contract` finds in the report of Jest. */
export function describeContract({ store, server, open, passTime }: ContractSubject): void {
  for (const callers of CALLERS) {
    const cases = idempotencyStoreContract(open, { callers, ...(passTime && { passTime }) });
    inBlocks(blockTitles({ store, server, callers }), () => {
      for (const { name, run } of cases) it(name, run);
    });
  }
}

function inBlocks([title, ...others]: string[], body: () => void): void {
  if (title === undefined) body();
  else describe(title, () => inBlocks(others, body));
}
