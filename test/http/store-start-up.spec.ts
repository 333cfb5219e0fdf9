import {
  AtomicRecordStore,
  IdempotencyConfigurationError,
  IdempotencyModule,
  type IdempotencyModuleOptions,
  Idempotent,
  type IdempotentOptions,
  InMemoryIdempotencyStore,
} from '@exactly-once/nestjs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Post, type Type } from '@nestjs/common';

import { startStoreApp } from '../stores/store-app.js';
import { onEachAdapter } from '../support/adapters.js';
import { startApp } from '../support/app.js';
import { errorOf } from '../support/error-of.js';
import { newKey, userScope } from '../support/idempotent-app.js';

const NO_TRANSACTION =
  /`mode` is 'transaction'.*the store InMemoryIdempotencyStore.*`mode: 'lease'`.*`store` out.*Postgres/s;

const store = () => new InMemoryIdempotencyStore();

function controllerWith(onClass: IdempotentOptions, onMethod: IdempotentOptions = {}): Type {
  @Controller()
  @Idempotent(onClass)
  class OrdersController {
    @Post()
    @Idempotent(onMethod)
    create() {
      return 'created';
    }
  }
  return OrdersController;
}

onEachAdapter((adapter) => {
  /** The message that stops the start of an app without TypeORM. */
  const failure = async (options: Partial<IdempotencyModuleOptions>, controllers: Type[] = []) => {
    const module = IdempotencyModule.forRoot({ scope: userScope, ...options });
    const error = await errorOf(startApp({ adapter, imports: [module], controllers }));
    expect(error).toBeInstanceOf(IdempotencyConfigurationError);
    return (error as Error).message;
  };

  describe('a store and `mode: transaction` do not go together', () => {
    it('in the options of the module', async () => {
      expect(await failure({ store: store(), mode: 'transaction' })).toMatch(NO_TRANSACTION);
    });

    it('on a class, and the message names the handler', async () => {
      const message = await failure({ store: store() }, [controllerWith({ mode: 'transaction' })]);

      expect(message).toMatch(/^OrdersController\.create: /);
      expect(message).toMatch(NO_TRANSACTION);
    });

    it('on a handler, and the message names it', async () => {
      const message = await failure({ store: store() }, [controllerWith({}, { mode: 'transaction' })]);

      expect(message).toMatch(/^OrdersController\.create: /);
      expect(message).toMatch(NO_TRANSACTION);
    });

    it('in a call of run(), which executes nothing', async () => {
      const app = await startStoreApp({ adapter, store: store() });
      try {
        let executions = 0;
        const request = { scope: null, operation: 'pay', key: newKey() };
        const count = () => (executions += 1);
        const error = await errorOf(app.service.run(request, count, { mode: 'transaction' }));

        expect(error).toBeInstanceOf(IdempotencyConfigurationError);
        expect((error as Error).message).toMatch(NO_TRANSACTION);
        expect(executions).toBe(0);
      } finally {
        await app.close();
      }
    });
  });

  describe('what is no store is refused, with what it lacks', () => {
    it.each<[string, unknown, RegExp]>([
      ['an empty object', {}, /is \{\}.*no claim\(\), no complete\(\).*no releaseAbandoned\(\)/s],
      ['null', null, /is null.*no claim\(\)/s],
      ['a text', 'redis://localhost', /is 'redis:\/\/localhost'.*no claim\(\).*RedisIdempotencyStore/s],
      ['a class in place of its instance', InMemoryIdempotencyStore, /no claim\(\)/],
    ])('%s', async (_, value, expected) => {
      const message = await failure({ store: value as never });

      expect(message).toMatch(/^The option `store` is /);
      expect(message).toMatch(expected);
    });

    it('a store of which two methods are missing: they alone are named', async () => {
      const half = Object.assign(Object.create(AtomicRecordStore.prototype), { renew: undefined, find: 7 });
      const message = await failure({ store: half });

      expect(message).toMatch('it has no renew(), no find(). Use');
    });
  });

  it('without a store and without a DataSource, the message offers both', async () => {
    expect(await failure({})).toMatch(/no DataSource 'default'.*`TypeOrmModule\.forRoot\(\)`.*`store`/s);
  });

  it('an option that does not exist is refused with a list in which `store` is', async () => {
    expect(await failure({ stores: store() } as object)).toMatch(/`stores` does not exist.*, store\.$/s);
  });

  it('a store that applications share is closed as often as it was opened', async () => {
    const calls: string[] = [];
    const shared = Object.assign(store(), {
      open: async () => void calls.push('open'),
      close: async () => void calls.push('close'),
    });
    const module = IdempotencyModule.forRoot({ scope: userScope, store: shared });
    const started = await startApp({ adapter, imports: [module] });
    const failing = [module, IdempotencyModule.forRoot({ scope: userScope, mode: 'fast' as never })];
    await errorOf(startApp({ adapter, imports: failing }));
    await started.close();
    await started.close();

    expect(calls.filter((call) => call === 'close')).toHaveLength(
      calls.filter((call) => call === 'open').length,
    );
    expect(calls).toContain('close');
  });

  describe('in production', () => {
    const { NODE_ENV } = process.env;
    afterEach(() => {
      process.env.NODE_ENV = NODE_ENV;
    });

    it('an app does not start with its records in memory, and is told what to use', async () => {
      process.env.NODE_ENV = 'production';
      const message = await failure({ store: store() });

      expect(message).toMatch(
        /NODE_ENV is production.*in memory.*Postgres.*`@exactly-once\/redis`.*allowInProduction: true/s,
      );
    });

    it('it starts where that is allowed', async () => {
      process.env.NODE_ENV = 'production';
      const allowed = new InMemoryIdempotencyStore({ allowInProduction: true });
      const app = await startStoreApp({ adapter, store: allowed });
      const { status } = await app.post();
      await app.close();

      expect(status).toBe(201);
    });
  });
});

describe('the options of the in-memory store', () => {
  it.each<[object, RegExp]>([
    [{ maxEntries: 0 }, /`maxEntries` is 0\. Use a whole number, at least 1/],
    [{ maxEntries: 1.5 }, /`maxEntries` is 1\.5/],
    [{ maxEntries: '10' }, /`maxEntries` is '10'/],
    [{ maxBytes: 'lots' }, /`maxBytes` is 'lots'/],
    [{ maxBytes: -1 }, /`maxBytes` is -1/],
    [{ allowInProduction: 'no' }, /`allowInProduction` is 'no'\. Use true or false/],
    [{ maxEntrys: 5 }, /`InMemoryIdempotencyStore\.maxEntrys` does not exist.*maxEntries, maxBytes/],
  ])('%j is refused', (options, expected) => {
    const make = () => new InMemoryIdempotencyStore(options);

    expect(make).toThrow(IdempotencyConfigurationError);
    expect(make).toThrow(expected);
  });
});
