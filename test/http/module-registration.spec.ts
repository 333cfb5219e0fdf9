import {
  Idempotent,
  IdempotencyModule,
  IdempotencyRecord,
  InMemoryIdempotencyStore,
  type IdempotencyModuleOptions,
  type IdempotencyOptionsFactory,
} from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module, Post, type DynamicModule, type Type } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { send } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';

@Controller()
class OrdersController {
  @Post()
  @Idempotent()
  create() {
    return { at: process.hrtime.bigint().toString() };
  }
}

/** A feature that does not import the library's module. */
@Module({ controllers: [OrdersController] })
class OrdersModule {}

@Injectable()
class OptionsSource implements IdempotencyOptionsFactory {
  createIdempotencyOptions(): IdempotencyModuleOptions {
    return { scope: () => 'somebody', ttl: '5h' };
  }
}

@Module({ providers: [OptionsSource], exports: [OptionsSource] })
class OptionsModule {}

const post = ({ url }: TestApp, key: string) => send(url, { headers: { 'Idempotency-Key': key }, body: {} });

const dataSource = 'named';
const scope = () => 'somebody';

onEachAdapter((adapter) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const start = (...imports: (DynamicModule | Type)[]): Promise<TestApp> => {
    const typeOrm = TypeOrmModule.forRoot({
      type: 'postgres',
      url: database.url,
      entities: [IdempotencyRecord],
      name: dataSource,
      retryAttempts: 0,
    });
    return startApp({ adapter, imports: [typeOrm, ...imports] });
  };
  const records = ({ app }: TestApp) =>
    app.get<DataSource>(getDataSourceToken(dataSource)).getRepository(IdempotencyRecord);

  let app: TestApp | undefined;
  beforeEach(() => {
    app = undefined;
  });

  it.each<[string, DynamicModule]>([
    ['forRoot', IdempotencyModule.forRoot({ dataSource, scope, ttl: '5h' })],
    [
      'forRootAsync with useFactory',
      IdempotencyModule.forRootAsync({
        dataSource,
        imports: [OptionsModule],
        inject: [OptionsSource],
        useFactory: async (source: OptionsSource) => source.createIdempotencyOptions(),
      }),
    ],
    ['forRootAsync with useClass', IdempotencyModule.forRootAsync({ dataSource, useClass: OptionsSource })],
    [
      'forRootAsync with useExisting',
      IdempotencyModule.forRootAsync({ dataSource, imports: [OptionsModule], useExisting: OptionsSource }),
    ],
  ])(
    'takes the options and the DataSource from %s, and serves modules that do not import it',
    async (_, library) => {
      app = await start(library, OrdersModule);
      try {
        const key = newKey();
        const first = await post(app, key);

        expect(first.status).toBe(201);
        expectReplay(await post(app, key), first);
        const record = await records(app).findOneByOrFail({ key });
        expect(Math.round((record.expiresAt.getTime() - record.completedAt!.getTime()) / 3_600_000)).toBe(5);
        expect(record.scope).toBe('somebody');
      } finally {
        await app.close();
      }
    },
  );

  it.each<[string, DynamicModule]>([
    ['forRoot', IdempotencyModule.forRoot({ dataSource, scope, isGlobal: false })],
    [
      'forRootAsync',
      IdempotencyModule.forRootAsync({ dataSource, useClass: OptionsSource, isGlobal: false }),
    ],
  ])('isGlobal: false of %s serves the modules that import it, and no other', async (_, library) => {
    @Module({ imports: [library], controllers: [OrdersController] })
    class ImportingModule {}

    const failing = start(library, OrdersModule).then((started) => started.close());
    await expect(failing).rejects.toThrow(/OrdersModule/);
    app = await start(ImportingModule);
    try {
      const key = newKey();
      const first = await post(app, key);
      expectReplay(await post(app, key), first);
    } finally {
      await app.close();
    }
  });

  describe('a DataSource that holds no records does not get their entity, which only Postgres can have', () => {
    const store = new InMemoryIdempotencyStore();

    it.each<[string, string, (name: string) => DynamicModule]>([
      [
        'forRoot, with a store',
        'without-records',
        (name) => IdempotencyModule.forRoot({ dataSource: name, scope, store }),
      ],
      [
        'forRootAsync, with `dataSource: false`',
        'without-records-async',
        () => IdempotencyModule.forRootAsync({ dataSource: false, useFactory: () => ({ scope, store }) }),
      ],
    ])('%s', async (_, name, library) => {
      // TypeOrmModule remembers the entities of each name for the whole process.
      const ofAdapter = `${name}-${adapter}`;
      const typeOrm = TypeOrmModule.forRoot({
        type: 'postgres',
        url: database.url,
        autoLoadEntities: true,
        name: ofAdapter,
        retryAttempts: 0,
      });
      app = await startApp({ adapter, imports: [typeOrm, library(ofAdapter), OrdersModule] });
      try {
        const key = newKey();
        const first = await post(app, key);

        expectReplay(await post(app, key), first);
        const unused = app.app.get<DataSource>(getDataSourceToken(ofAdapter));
        expect(unused.hasMetadata(IdempotencyRecord)).toBe(false);
      } finally {
        await app.close();
      }
    });

    it('false without a store is refused, with what to do', async () => {
      const library = IdempotencyModule.forRoot({ dataSource: false, scope });

      await expect(startApp({ adapter, imports: [library] })).rejects.toThrow(
        /`dataSource` is false.*Set `store`/s,
      );
    });
  });
});
