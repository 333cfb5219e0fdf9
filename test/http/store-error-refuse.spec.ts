import { IdempotencyRecordUnreadableError } from '@exactly-once/nestjs';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

import { FaultyStore, startStoreApp, type StoreApp } from '../stores/store-app.js';
import { onEachAdapter } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';

onEachAdapter((adapter) => {
  let app: StoreApp;
  let store: FaultyStore;

  beforeEach(async () => {
    store = new FaultyStore();
    app = await startStoreApp({
      adapter,
      store,
      options: { storeTimeout: '1s', retryAfter: '2s' },
    });
    app.handle(() => 'done');
  });
  afterEach(() => {
    store.settle();
    return app.close();
  });

  it('a claim that fails is answered with 503, nothing is executed, and a retry executes', async () => {
    const key = newKey();
    store.onClaim = () => Promise.reject(new Error('connection reset'));
    const refused = await app.post({ key });
    const executedMeanwhile = app.executions();
    store.onClaim = undefined;
    const retried = await app.post({ key });

    expectProblem(refused, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
    expect(refused.headers['retry-after']).toBe('2');
    expect(executedMeanwhile).toBe(0);
    expect(app.log.messages('error').join()).toMatch('could not claim a key of POST /; nothing was executed');
    expect(retried.status).toBe(201);
  });

  it('a claim that was made although its answer was lost is given back in the background', async () => {
    const key = newKey();
    store.onClaim = async (claim) => {
      await claim();
      throw new Error('connection reset');
    };
    const refused = await app.post({ key });
    store.onClaim = undefined;
    await eventually(() => expect(store.size).toBe(0));
    const retried = await app.post({ key });

    expectProblem(refused, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
    expect(retried.status).toBe(201);
    expect(app.executions()).toBe(1);
  });

  it('a record that cannot be read is no record to execute over', async () => {
    store.onClaim = () => Promise.reject(new IdempotencyRecordUnreadableError(new Error('wrong version')));
    const refused = await app.post();

    expect(refused.json().code).toBe('IDEMPOTENCY_RECORD_UNREADABLE');
    expect(app.executions()).toBe(0);
  });
});
