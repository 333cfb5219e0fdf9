import { IdempotencyModule, IdempotencyRecord, type IdempotencyModuleOptions } from '@exactly-once/nestjs';
import type { ExecutionContext, ModuleMetadata } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import { DataSource, type DataSourceOptions, type Repository } from 'typeorm';

import { startApp, type TestApp, type TestAppOptions } from './app.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { Effect } from './effect.entity.js';
import { send, type HttpRequest, type HttpResponse } from './http.js';

export interface IdempotentAppOptions extends Omit<TestAppOptions, 'imports'> {
  /** @default a new one, which `close()` drops */
  database?: TestDatabase;
  imports?: ModuleMetadata['imports'];
  /** Beside `IdempotencyRecord` and `Effect`; their tables are made by `synchronize`. */
  entities?: Function[];
  /** @default the header `X-User`, or `nobody` */
  options?: Partial<IdempotencyModuleOptions>;
  dataSource?: Partial<DataSourceOptions>;
}

/** An app with the library on a database of its own, and what tests ask of both. */
export interface IdempotentApp extends TestApp {
  database: TestDatabase;
  dataSource: DataSource;
  effects: Repository<Effect>;
  records: Repository<IdempotencyRecord>;
  /** A POST to `/` with a new key, unless the options say otherwise; `key: null` sends none. */
  post(options?: PostOptions): Promise<HttpResponse>;
}

export interface PostOptions extends HttpRequest {
  key?: string | null;
}

export const newKey = (): string => randomUUID();

/** Scope of the test apps: who the client says it is, which no real app should believe. */
export const userScope = (
  request: { headers: Record<string, string> },
  _context?: ExecutionContext,
): string => request.headers['x-user'] ?? 'nobody';

/** All that does not count statements must hold either way. */
const WITHOUT_BATCHING = process.env['TEST_BATCHING'] === 'off';

export async function startIdempotentApp(options: IdempotentAppOptions): Promise<IdempotentApp> {
  const {
    database: given,
    imports = [],
    entities = [],
    options: module,
    dataSource: more,
    ...rest
  } = options;
  const database = given ?? (await createTestDatabase());
  const app = await startApp({
    ...rest,
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url: database.url,
        entities: [IdempotencyRecord, Effect, ...entities],
        synchronize: true,
        retryAttempts: 0,
        ...more,
      } as TypeOrmModuleOptions),
      TypeOrmModule.forFeature([Effect, ...entities]),
      IdempotencyModule.forRoot({ scope: userScope, batching: !WITHOUT_BATCHING, ...module }),
      ...imports,
    ],
  });
  const dataSource = app.app.get(DataSource);
  return {
    ...app,
    database,
    dataSource,
    effects: dataSource.getRepository(Effect),
    records: dataSource.getRepository(IdempotencyRecord),
    post: ({ key = newKey(), headers, ...request } = {}) =>
      send(app.url, {
        body: { amount: 100 },
        ...request,
        headers: { ...(key !== null && { 'Idempotency-Key': key }), ...headers },
      }),
    close: async () => {
      await app.close();
      if (!given) {
        await database.drop();
      }
    },
  };
}
