import { InMemoryIdempotencyStore } from '@exactly-once/nestjs';

import { describeContract } from '../contract/describe-contract.js';

const store = new InMemoryIdempotencyStore();

describeContract({
  store: 'in memory',
  server: 'none',
  open: () => store,
  passTime: async (milliseconds) => store.moveClock(milliseconds),
});
