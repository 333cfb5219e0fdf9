import { IdempotencyLeaseLostError } from '@exactly-once/nestjs';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { FaultyStore, startStoreApp, type StoreApp } from '../stores/store-app.js';
import { onEachAdapter } from '../support/adapters.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';

/** A client waits many times as long as a store may need. */
const patience = () => AbortSignal.timeout(10_000);

// A store should reject within the limit that it is given. These do not, as one with a fault of its own.
onEachAdapter((adapter) => {
  let app: StoreApp;
  let store: FaultyStore;

  beforeEach(async () => {
    store = new FaultyStore();
    app = await startStoreApp({ adapter, store, options: { storeTimeout: '500ms', lockTtl: '3s' } });
    app.handle(() => 'done');
  });
  afterEach(() => {
    store.settle();
    return app.close();
  });

  it('a claim that is never answered is given up after storeTimeout: 503, nothing executed', async () => {
    store.silent.add('claim');
    expectProblem(await app.post({ signal: patience() }), 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
    expect(app.executions()).toBe(0);
  });

  it("a claim that is never answered is given up, and executed with onStoreError: 'execute'", async () => {
    store.silent.add('claim');
    const request = { scope: null, operation: 'pay', key: newKey() };
    const limit = sleep(10_000, 'never answered', { ref: false });
    const work = app.service.run(request, () => 'executed', { onStoreError: 'execute' });

    expect(await Promise.race([work, limit])).toBe('executed');
  });

  it('an outcome whose record is never answered: the client gets its true answer while the lease is held', async () => {
    store.silent.add('complete');
    const { status, text } = await app.post({ signal: patience() });

    expect({ status, text }).toEqual({ status: 201, text: 'done' });
  });

  it('a release that is never answered does not keep the client waiting', async () => {
    store.silent.add('release');
    app.handle(({ context, response }) => {
      context.release();
      response.status(503);
      return 'busy';
    });
    const { status, text } = await app.post({ signal: patience() });

    expect({ status, text }).toEqual({ status: 503, text: 'busy' });
  });

  it('a step whose record is never answered counts as one that was not recorded', async () => {
    store.silent.add('recordSteps');
    let error: unknown;
    app.handle(async ({ context }) => {
      error = await context.step('charge', () => 1).catch((thrown: unknown) => thrown);
      return 'done';
    });
    expectProblem(await app.post({ signal: patience() }), 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    expect(error).toBeInstanceOf(IdempotencyLeaseLostError);
  });

  it('one renewal that is never answered does not end all others', async () => {
    const key = newKey();
    store.silent.add('renew');
    app.handle(async () => {
      await sleep(1_500);
      store.silent.delete('renew');
      await sleep(4_000);
      return 'done';
    });
    const answer = app.post({ key });
    await sleep(4_500);
    expectProblem(await app.post({ key }), 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect((await answer).status).toBe(201);
  });
});
