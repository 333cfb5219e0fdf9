import {
  InMemoryIdempotencyStore,
  type LeaseClaim,
  type LeaseHold,
  type RecordedResponse,
} from '@exactly-once/nestjs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ServiceUnavailableException } from '@nestjs/common';

import { onEachAdapter } from '../support/adapters.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { startStoreApp, type StoreApp } from '../stores/store-app.js';

type Operation = 'claim' | 'complete' | 'release';

/** Throws once, instead of giving a promise that rejects. */
class ThrowingStore extends InMemoryIdempotencyStore {
  throwing: Operation | undefined;

  override claim(claim: LeaseClaim) {
    this.throwIf('claim');
    return super.claim(claim);
  }

  override complete(hold: LeaseHold, response: RecordedResponse, ttl: number) {
    this.throwIf('complete');
    return super.complete(hold, response, ttl);
  }

  override release(hold: LeaseHold) {
    this.throwIf('release');
    return super.release(hold);
  }

  private throwIf(operation: Operation): void {
    if (this.throwing === operation) {
      this.throwing = undefined;
      throw new Error('thrown by the store');
    }
  }
}

onEachAdapter((adapter) => {
  describe.each([true, false])('a store that throws, and says that it keeps time limits: %s', (keeps) => {
    const store = Object.assign(new ThrowingStore(), { keepsTimeLimits: keeps });
    let app: StoreApp;

    beforeAll(async () => {
      app = await startStoreApp({ adapter, store, options: { storeTimeout: '1s' } });
    });
    afterAll(() => {
      // Nothing is left of the claim that threw, and a shutdown need not look for it.
      store.release = async () => true;
      return app.close();
    });

    it('C26: at its claim: the client gets 503, and nothing was executed', async () => {
      app.handle(() => 'done');
      store.throwing = 'claim';
      const key = newKey();
      const first = await app.post({ key });

      expectProblem(first, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
      expect(app.executions()).toBe(0);
      expect((await app.post({ key })).status).toBe(201);
    });

    it('C25: at its completion: that is tried again, and the client gets its answer', async () => {
      app.handle(() => 'done');
      store.throwing = 'complete';
      const key = newKey();
      const first = await app.post({ key });
      const second = await app.post({ key });

      expect([first.status, first.text]).toEqual([201, 'done']);
      expect(second.headers).toHaveProperty('idempotent-replayed', 'true');
      expect(app.executions()).toBe(1);
    });

    it('at its release: that is tried again, and the key is free', async () => {
      app.handle(({ context }) => {
        context.release();
        throw new ServiceUnavailableException();
      });
      store.throwing = 'release';
      const key = newKey();
      expect((await app.post({ key })).status).toBe(503);
      app.handle(() => 'done');

      expect((await app.post({ key })).status).toBe(201);
    });

    it('outside HTTP, too', async () => {
      store.throwing = 'complete';
      const target = { scope: null, operation: 'print', key: newKey() };

      expect(await app.service.run(target, () => 'done')).toBe('done');
    });
  });
});
