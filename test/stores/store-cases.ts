import { idempotencyCases, type IdempotencyCasesOptions } from '@exactly-once/nestjs/testing';
import { setTimeout as sleep } from 'node:timers/promises';

import type { StoreApp } from './store-app.js';

/**
 * The seven cases, on an app whose records are in a store.
 *
 * @param app known when the cases run
 * @returns `handler`, which the app has to have, besides
 */
export function storeCases(
  app: () => StoreApp,
  options: Pick<IdempotencyCasesOptions, 'endRetention' | 'concurrency'>,
) {
  let isToFail = false;
  const handler = async () => {
    if (isToFail) {
      isToFail = false;
      throw new Error('out of luck');
    }
    await sleep(20);
    return { id: app().executions() };
  };
  const cases = idempotencyCases({
    request: ({ key, body, signal }) =>
      fetch(app().url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(key !== undefined && { 'Idempotency-Key': key }),
        },
        body: JSON.stringify({ body }),
        ...(signal && { signal }),
      }),
    effectCount: () => app().executions(),
    failOnce: () => {
      isToFail = true;
    },
    afterFailure: 'replays',
    ...options,
  });
  return { cases, handler };
}
