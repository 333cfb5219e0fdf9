import { Idempotent, type IdempotencyModuleOptions, type IdempotentOptions } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post, type Type } from '@nestjs/common';

import { onEachAdapter } from '../support/adapters.js';
import { emptyTemplate } from '../support/database-templates.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Effect } from '../support/effect.entity.js';
import {
  newKey,
  startIdempotentApp,
  type IdempotentApp,
  type IdempotentAppOptions,
} from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';
import { startUpFailure } from '../support/start-up.js';

@Controller()
class OrdersController {
  @Post()
  @Idempotent()
  create() {
    return { random: Math.random() };
  }
}

function controllerWith(options: unknown): Type {
  @Controller()
  class WronglyConfiguredController {
    @Post()
    @Idempotent(options as IdempotentOptions)
    create() {
      return 'created';
    }
  }
  return WronglyConfiguredController;
}

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

  const start = async (options: Partial<IdempotentAppOptions>) => {
    app = await startIdempotentApp({ adapter, database, ...options });
    return app;
  };
  const failure = (options: Partial<IdempotentAppOptions>) =>
    startUpFailure({ adapter, database, controllers: [OrdersController], ...options });

  it('C11: without a scope the app does not start, and the message says what to set', async () => {
    const options = { scope: undefined } as unknown as IdempotencyModuleOptions;
    const message = await failure({ options });

    expect(message).toMatch(/`scope` is undefined.*`scope: \(req\) => req\.user\.id`.*`scope: false`/s);
  });

  it('C11: scope: false is the deliberate way to share the keys among all callers', async () => {
    const { post } = await start({ controllers: [OrdersController], options: { scope: false } });
    const key = newKey();
    const first = await post({ key, headers: { 'X-User': 'alice' } });

    expect(first.status).toBe(201);
    expectReplay(await post({ key, headers: { 'X-User': 'bob' } }), first);
  });

  it('does not start without the table of records, and says how to create it', async () => {
    const empty = await createTestDatabase({ template: emptyTemplate });
    try {
      const message = await failure({
        database: empty,
      });
      expect(message).toMatch(
        /"idempotency_records".*`\.\.\.idempotencyMigrations`.*idempotencySchemaSql\(\)/s,
      );
    } finally {
      await empty.drop();
    }
  });

  it('does not start when a column of the table is missing, and names it', async () => {
    const old = await createTestDatabase();
    try {
      app = await startIdempotentApp({ adapter, database: old, controllers: [OrdersController] });
      await app.dataSource.query('ALTER TABLE idempotency_records DROP COLUMN fingerprint');
      await app.close();
      const message = await failure({
        database: old,
      });
      expect(message).toMatch(/fingerprint.*idempotencyMigrations/s);
    } finally {
      await old.drop();
    }
  });

  it('does not start when the DataSource does not know the entity, and says how to add it', async () => {
    const message = await failure({
      dataSource: { entities: [Effect] },
    });

    expect(message).toMatch(
      /does not know the entity IdempotencyRecord.*`entities`.*`autoLoadEntities: true`/s,
    );
  });

  it('starts with autoLoadEntities in place of the entity', async () => {
    const { post } = await start({
      controllers: [OrdersController],
      dataSource: { entities: [], autoLoadEntities: true } as object,
    });
    const key = newKey();
    const first = await post({ key });

    expectReplay(await post({ key }), first);
  });

  it.each<[unknown, RegExp]>([
    [{ ttl: 'soon' }, /`ttl` is 'soon'.*'24h'/],
    [{ scope: 'user' }, /`scope` is user|`scope` is 'user'/],
    [{ retries: 3 }, /`retries` does not exist.*ttl/],
  ])('names the handler whose options are wrong: %j', async (options, expected) => {
    const message = await failure({ controllers: [controllerWith(options)] });

    expect(message).toMatch(/^WronglyConfiguredController\.create: /);
    expect(message).toMatch(expected);
  });

  it('names the option of the module that is wrong', async () => {
    const message = await failure({
      options: { lockTtl: '0s' },
    });

    expect(message).toMatch(/`lockTtl` is '0s'/);
  });
});
