import type { InjectionToken, ModuleMetadata, OptionalFactoryDependency, Type } from '@nestjs/common';
import type { IdempotencyStore } from '../store/idempotency-store.interface.js';
import type { Duration } from './duration.js';
import type { IdempotentOptions } from './idempotent-options.interface.js';

/** How expired records are removed. @publicApi */
export interface PurgeOptions {
  /** Time between two runs. @default '1m' */
  interval?: Duration;
  /** Rows that one `DELETE` removes at most. @default 1000 */
  batchSize?: number;
}

/**
 * Options of the module: the defaults of every handler, and what concerns the application as a whole.
 *
 * @publicApi
 */
export interface IdempotencyModuleOptions extends IdempotentOptions {
  scope: Exclude<IdempotentOptions['scope'], undefined>;
  /**
   * Where the records are, if not in Postgres: a `RedisIdempotencyStore` of `@exactly-once/redis`, an
   * `InMemoryIdempotencyStore` for tests, or one of your own. It has `lease` mode alone, which is the default then. A
   * store that is a provider is injected: `forRootAsync({ inject: [MyStore], useFactory: (store) => ({ store, … }) })`.
   *
   * @default Postgres, on the configured DataSource
   */
  store?: IdempotencyStore;
  /** Absolute address of your own page on idempotency keys; sent as `Link: <…>; rel="describedby"` with errors. */
  documentationUrl?: string;
  /** Prefix of the `type` URI of problem details; the code in kebab case is appended. @default 'urn:exactly-once:problem:' */
  problemTypeBase?: string;
  /** Removes expired records in the background; `false` switches it off. @default { interval: '1m', batchSize: 1000 } */
  purge?: PurgeOptions | false;
  /**
   * `lease` mode: whether concurrent requests share their statements. What arrives while one is under way goes into the
   * next one, so an idle application waits for nothing. `false` sends one for each request. @default true
   */
  batching?: boolean;
}

/** What decides how the module is registered, beside the options. @publicApi */
export interface IdempotencyModuleExtras {
  /** Whether the module is visible everywhere without being imported again. @default true */
  isGlobal?: boolean;
  /**
   * Name of the TypeORM DataSource that holds the records and is ambient in `transaction` mode; `false` where a `store`
   * holds them, as it does by itself where `forRoot()` is given one. A DataSource with `autoLoadEntities` would know the
   * entity of the records otherwise, and one that is no Postgres cannot start with it.
   *
   * @default the default one
   */
  dataSource?: string | false;
}

/** Implemented by the class of `forRootAsync({ useClass })` and `useExisting`. @publicApi */
export interface IdempotencyOptionsFactory {
  createIdempotencyOptions(): IdempotencyModuleOptions | Promise<IdempotencyModuleOptions>;
}

/** What `forRootAsync()` takes. @publicApi */
export interface IdempotencyModuleAsyncOptions
  extends Pick<ModuleMetadata, 'imports'>, IdempotencyModuleExtras {
  inject?: (InjectionToken | OptionalFactoryDependency)[];
  useFactory?: (...dependencies: any[]) => IdempotencyModuleOptions | Promise<IdempotencyModuleOptions>;
  useClass?: Type<IdempotencyOptionsFactory>;
  useExisting?: Type<IdempotencyOptionsFactory>;
}
