import {
  IDEMPOTENCY_PURGE_INTERVAL,
  IdempotencyModule,
  IdempotencyReleaseRefusedError,
  InMemoryIdempotencyStore,
} from '@exactly-once/nestjs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { setTimeout as sleep } from 'node:timers/promises';

import { startStoreApp, type StoreApp, type StoreAppOptions } from '../stores/store-app.js';
import { onEachAdapter } from '../support/adapters.js';
import { errorOf } from '../support/error-of.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey, userScope } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';

/** Removes nothing, as a store does that lets records expire by itself. */
class ExpiringStore extends InMemoryIdempotencyStore {
  override readonly purge = undefined as never;
}

const target = (key: string) => ({ scope: 'nobody', operation: 'POST /', key });

onEachAdapter((adapter) => {
  let app: StoreApp;
  let store: InMemoryIdempotencyStore;

  const start = async (options: Partial<StoreAppOptions> = {}) => {
    app = await startStoreApp({ adapter, store, ...options });
  };
  beforeEach(() => {
    store = new InMemoryIdempotencyStore();
  });
  afterEach(() => app.close());

  const intervalsWith = async (given: InMemoryIdempotencyStore) => {
    const module = IdempotencyModule.forRoot({
      store: given,
      scope: userScope,
      purge: { interval: '100ms' },
    });
    await start({
      store: given,
      module: { ...module, imports: [...(module.imports ?? []), ScheduleModule.forRoot()] },
    });
    return app.app.get(SchedulerRegistry, { strict: false }).getIntervals();
  };
  it('find() shows a record, and release() frees one whose attempt has died, and no other', async () => {
    await start();
    const key = newKey();
    const gate = new Gate();
    gate.close();
    app.handle(() => gate.pass());
    const dead = app.post({ key });
    const live = await eventually(async () => {
      const record = await app.service.find(target(key));
      expect(record?.state).toBe('in-flight');
      return record;
    });
    const refused = await errorOf(app.service.release(target(key), 'ann'));
    store.moveClock('31s');
    app.handle(() => 'done');
    expectProblem(await app.post({ key }), 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    const abandoned = await app.service.find(target(key));
    await app.service.release(target(key), 'ann');
    const absent = await app.service.find(target(key));
    const executed = await app.post({ key });
    gate.open();
    await dead;

    expect(live).toMatchObject({ scope: 'nobody', operation: 'POST /', key, attempt: 1, status: null });
    expect(refused).toBeInstanceOf(IdempotencyReleaseRefusedError);
    expect(abandoned).toMatchObject({ state: 'abandoned' });
    expect(absent).toBeUndefined();
    expect(executed.status).toBe(201);
    expect(await app.service.find(target(key))).toMatchObject({ state: 'completed', status: 201 });
    expect(app.log.messages('warn').join()).toMatch(`ann released the abandoned record of POST /`);
  });

  it('run() executes once per key, outside of HTTP', async () => {
    await start();
    const request = { scope: 'invoices', operation: 'invoice-paid', key: newKey() };
    let executions = 0;
    const work = () =>
      app.service.run(request, async ({ mode }) => ({ mode, executions: (executions += 1) }));

    expect(await work()).toEqual({ mode: 'lease', executions: 1 });
    expect(await work()).toEqual({ mode: 'lease', executions: 1 });
    expect(store.peek(request.key)).toMatchObject({ operation: 'invoice-paid', scope: 'invoices' });
  });

  it('purge() removes what has expired, from the store that has one', async () => {
    await start({ options: { purge: { interval: '1h', batchSize: 2 } } });
    await Promise.all(Array.from({ length: 5 }, () => app.post()));
    store.moveClock('25h');
    await app.post();

    expect(await app.service.purge()).toBe(5);
    expect(store.size).toBe(1);
    expect(await app.service.purge()).toBe(0);
  });

  it('expired records go once per interval', async () => {
    await start({ options: { purge: { interval: '100ms' } } });
    await app.post();
    store.moveClock('25h');

    await eventually(() => expect(store.size).toBe(0));
  });

  describe('of a store that lets records expire by itself', () => {
    it('nothing is purged, and no interval is started', async () => {
      store = new ExpiringStore();
      expect(await intervalsWith(store)).toEqual([]);
      await app.post();
      store.moveClock('25h');
      await sleep(300);

      expect(await app.service.purge()).toBe(0);
      expect(store.size).toBe(1);
    });

    it('which one with a purge() has', async () => {
      expect(await intervalsWith(store)).toEqual([IDEMPOTENCY_PURGE_INTERVAL]);
    });
  });
});
