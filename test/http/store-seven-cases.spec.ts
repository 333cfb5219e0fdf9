import { IdempotencyModule, IdempotencyStore, InMemoryIdempotencyStore } from '@exactly-once/nestjs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';

import { startStoreApp, type StoreApp } from '../stores/store-app.js';
import { storeCases } from '../stores/store-cases.js';
import { onEachAdapter } from '../support/adapters.js';
import { newKey, userScope } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

@Module({ providers: [InMemoryIdempotencyStore], exports: [InMemoryIdempotencyStore] })
class StoreModule {}

const asProvider = () =>
  IdempotencyModule.forRootAsync({
    imports: [StoreModule],
    inject: [InMemoryIdempotencyStore],
    useFactory: (store: InMemoryIdempotencyStore) => ({ store, scope: userScope }),
  });

const registrations = {
  'forRoot({ store })': () => undefined,
  'forRootAsync() with an injected store': asProvider,
};

onEachAdapter((adapter) => {
  describe.each(Object.entries(registrations))('%s, in an app without TypeORM', (_, register) => {
    let app: StoreApp;
    let given: InMemoryIdempotencyStore;
    const { cases, handler } = storeCases(() => app, {
      endRetention: async () => given.moveClock('25h'),
    });

    beforeAll(async () => {
      given = new InMemoryIdempotencyStore();
      const module = register();
      app = await startStoreApp({ adapter, store: given, ...(module && { module }) });
      if (module) given = app.app.get(InMemoryIdempotencyStore, { strict: false });
      app.handle(handler);
    });
    afterAll(() => app.close());

    for (const { name, run } of cases) it(name, run);

    it('all seven cases are there, and the store that was given is the one that is injected', () => {
      expect(cases).toHaveLength(7);
      expect(app.app.get(IdempotencyStore)).toBe(given);
    });
  });

  it('status, headers and bytes of an answer come out of a store as they went in', async () => {
    const app = await startStoreApp({ adapter, store: new InMemoryIdempotencyStore() });
    try {
      app.handle(({ response }) => {
        response
          .header('Location', '/files/7')
          .header('Content-Type', 'application/octet-stream')
          .status(202);
        return adapter === 'express' ? void response.end(EVERY_BYTE) : void response.send(EVERY_BYTE);
      });
      const key = newKey();
      const first = await app.post({ key });
      const second = await app.post({ key });

      expect(first).toMatchObject({ status: 202, body: EVERY_BYTE });
      expect(second.headers['location']).toBe('/files/7');
      expectReplay(second, first);
      expect(app.executions()).toBe(1);
    } finally {
      await app.close();
    }
  });
});
