import { expect, it } from '@jest/globals';

import { bundleSize, LIMIT } from './bundle.js';

it('the client is small, and what is not used of it is left out', async () => {
  const whole = await bundleSize();
  const one = await bundleSize('deriveKey');

  expect(whole.gzipped).toBeLessThan(LIMIT);
  expect(one.gzipped).toBeLessThan(whole.gzipped / 2);
});
