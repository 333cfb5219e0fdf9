import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Post, Put, Sse, type Type } from '@nestjs/common';
import { EMPTY } from 'rxjs';

import { onEachAdapter } from '../support/adapters.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';
import { startUpFailure } from '../support/start-up.js';

/** A decorator that puts a function of its own in the place of the method, and forgets the metadata. */
const Traced = (): MethodDecorator => (_target, _name, descriptor) => {
  const method = descriptor.value as unknown as (...args: unknown[]) => unknown;
  descriptor.value = function (this: unknown, ...args: unknown[]) {
    return method.apply(this, args);
  } as never;
};

onEachAdapter((adapter) => {
  let database: TestDatabase;
  let app: IdempotentApp | undefined;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });
  afterAll(() => database.drop());

  const start = async (controller: Type) => {
    app = await startIdempotentApp({ adapter, database, controllers: [controller] });
    return app;
  };
  const failureOf = (controller: Type) => startUpFailure({ adapter, database, controllers: [controller] });

  it('refuses @Idempotent() on server-sent events', async () => {
    @Controller()
    class EventsController {
      @Sse()
      @Idempotent()
      events() {
        return EMPTY;
      }
    }

    expect(await failureOf(EventsController)).toMatch(/EventsController\.events.*@Sse\(\)/);
  });

  it('refuses @Idempotent() on a method that is not a route', async () => {
    @Controller()
    class HelperController {
      @Idempotent()
      help() {
        return 'nothing';
      }
    }

    expect(await failureOf(HelperController)).toMatch(/HelperController\.help.*not an HTTP route/);
  });

  it.each(['a method', 'the class'])('refuses @Idempotent() on %s of a provider', async (place) => {
    const onMethod = place === 'a method' ? Idempotent() : () => undefined;
    const onClass = place === 'the class' ? Idempotent() : () => undefined;

    @Injectable()
    @onClass
    class OrdersGateway {
      @onMethod
      onMessage() {
        return 'nothing';
      }
    }

    expect(await startUpFailure({ adapter, database, providers: [OrdersGateway] })).toMatch(
      /OrdersGateway.*not a controller/s,
    );
  });

  it('refuses a handler that another decorator has replaced without its metadata', async () => {
    @Controller()
    class TracedController {
      @Post()
      @Traced()
      @Idempotent()
      create() {
        return 'created';
      }
    }

    expect(await failureOf(TracedController)).toMatch(
      /TracedController\.create.*Put @Idempotent\(\) above that decorator/s,
    );
  });

  it('starts when that decorator stands below', async () => {
    @Controller()
    class TracedController {
      @Post()
      @Idempotent()
      @Traced()
      create() {
        return { random: Math.random() };
      }
    }

    const { post } = await start(TracedController);
    const key = newKey();
    const first = await post({ key });
    expectReplay(await post({ key }), first);
  });

  it('refuses a subclass that overrides a handler of a decorated class without a decorator of its own', async () => {
    @Idempotent()
    class Base {
      @Post()
      create() {
        return 'created';
      }
    }

    @Controller()
    class OverridingController extends Base {
      @Post()
      override create() {
        return 'created otherwise';
      }
    }

    expect(await failureOf(OverridingController)).toMatch(/OverridingController\.create.*unprotected/s);
  });

  it('refuses a subclass that overrides a decorated handler without a decorator of its own', async () => {
    class Base {
      @Post()
      @Idempotent()
      create() {
        return 'created';
      }
    }

    @Controller()
    class OverridingController extends Base {
      @Post()
      override create() {
        return 'created otherwise';
      }
    }

    expect(await failureOf(OverridingController)).toMatch(/OverridingController\.create.*unprotected/s);
  });

  it('only warns of @Idempotent() on a safe method', async () => {
    @Controller()
    class ReadingController {
      @Get()
      @Idempotent()
      read() {
        return 'read';
      }

      @Put()
      @Idempotent()
      write() {
        return 'written';
      }
    }

    const { log, post } = await start(ReadingController);

    const warnings = log.messages('warn').filter((message) => message.includes('@Idempotent()'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/ReadingController\.read.*GET, HEAD and OPTIONS/);
    expect((await post({ method: 'GET', key: null, body: '' })).status).toBe(200);
  });
});
