import { IdempotencyStepError, InMemoryIdempotencyStore } from '@exactly-once/nestjs';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

import { startStoreApp, type StoreApp } from '../stores/store-app.js';
import { onEachAdapter } from '../support/adapters.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';

onEachAdapter((adapter) => {
  let app: StoreApp;
  let store: InMemoryIdempotencyStore;
  let charges: number;
  const charge = () => ({ id: `ch_${(charges += 1)}` });

  beforeEach(async () => {
    charges = 0;
    store = new InMemoryIdempotencyStore();
    app = await startStoreApp({ adapter, store, handler: { onAbandoned: 'retry' } });
  });
  afterEach(() => app.close());

  it('transactionalStep() has no transaction to join, does not run its work, and says what to use', async () => {
    let error: unknown;
    app.handle(async ({ context }) => {
      error = await context.transactionalStep('charge', charge).catch((thrown: unknown) => thrown);
      return 'done';
    });
    await app.post();

    expect(error).toBeInstanceOf(IdempotencyStepError);
    expect((error as Error).message).toMatch(/same database as the work.*Use step\(\)/);
    expect(charges).toBe(0);
  });

  it('an attempt that takes over a dead one gets the results of its steps', async () => {
    const key = newKey();
    const gate = new Gate();
    gate.close();
    app.handle(async ({ context }) => {
      const { id } = await context.step('charge', charge);
      if (context.attempt === 1) await gate.pass();
      return { id, attempt: context.attempt };
    });
    const dead = app.post({ key });
    await gate.arrival();
    store.moveClock('31s');
    const resumed = await app.post({ key });
    gate.open();
    const late = await dead;

    expect(resumed.json()).toEqual({ id: 'ch_1', attempt: 2 });
    expect(late.json()).toEqual({ id: 'ch_1', attempt: 2 });
    expect(charges).toBe(1);
  });

  it('an attempt after one that was released gets the results of its steps', async () => {
    const key = newKey();
    app.handle(async ({ context, response }) => {
      const { id } = await context.step('charge', charge);
      if (context.attempt === 1) {
        context.release();
        response.status(503);
        return 'busy';
      }
      return { id, attempt: context.attempt };
    });
    const busy = await app.post({ key });
    const steps = store.peek(key)?.steps;
    const resumed = await app.post({ key });

    expect(busy.status).toBe(503);
    expect(JSON.parse(steps!)).toEqual({ charge: { result: { id: 'ch_1' } } });
    expect(resumed.json()).toEqual({ id: 'ch_1', attempt: 2 });
    expect(charges).toBe(1);
  });
});
