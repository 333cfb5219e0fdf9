import { type BeforeApplicationShutdown, Inject, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Repository } from 'typeorm';
import type { EngineLogger } from './engine/engine-logger.js';
import { IdempotencyEngine } from './engine/idempotency-engine.js';
import { IdempotentHandlers } from './http/idempotent-handlers.js';
import { ProblemDetails } from './http/problem-details.js';
import {
  IDEMPOTENCY_MODULE_OPTIONS,
  IDEMPOTENCY_REPOSITORY,
  IDEMPOTENCY_RESOLVED_OPTIONS,
} from './idempotency.constants.js';
import { ConfigurableModuleClass } from './idempotency.module-definition.js';
import { IdempotencyService } from './idempotency.service.js';
import { PurgeService } from './maintenance/purge.service.js';
import { type ResolvedModuleOptions, resolveModuleOptions } from './options/resolve-module-options.js';
import { StartUpCheck } from './start-up-check.js';
import { IdempotencyStore } from './store/idempotency-store.interface.js';
import { limitsOf } from './batching/batch-queue.js';
import type { IdempotencyRecord } from './typeorm/idempotency-record.entity.js';
import { PostgresLeaseStore } from './typeorm/postgres-lease.store.js';
import { PostgresTransactionStore } from './typeorm/postgres-transaction.store.js';

/** Milliseconds that a shutdown waits for handlers that run. */
const SHUTDOWN_PATIENCE = 10_000;

const nestLogger = new Logger('Idempotency');

const logger: EngineLogger = {
  warn: (message, cause) => nestLogger.warn(cause === undefined ? message : `${message} ${String(cause)}`),
  error: (message, cause) => nestLogger.error(message, cause instanceof Error ? cause.stack : cause),
};

/**
 * Idempotency keys for the handlers that `@Idempotent()` marks. Import it once, beside `TypeOrmModule`, or with a `store`.
 *
 * @example
 * IdempotencyModule.forRoot({ scope: (req) => req.user.id })
 * @publicApi
 */
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: IDEMPOTENCY_RESOLVED_OPTIONS,
      inject: [IDEMPOTENCY_MODULE_OPTIONS],
      useFactory: resolveModuleOptions,
    },
    {
      provide: IdempotencyStore,
      inject: [IDEMPOTENCY_RESOLVED_OPTIONS, IDEMPOTENCY_REPOSITORY],
      useFactory: ({ store, batching }: ResolvedModuleOptions, repository?: Repository<IdempotencyRecord>) =>
        store ?? new PostgresLeaseStore(repository!, logger, limitsOf(batching)),
    },
    {
      provide: IdempotencyEngine,
      inject: [IdempotencyStore, IDEMPOTENCY_RESOLVED_OPTIONS, IDEMPOTENCY_REPOSITORY],
      useFactory: (
        store: IdempotencyStore,
        { batching }: ResolvedModuleOptions,
        repository?: Repository<IdempotencyRecord>,
      ) => {
        const transactions =
          repository && new PostgresTransactionStore(repository, logger, limitsOf(batching));
        return new IdempotencyEngine(store, transactions, logger);
      },
    },
    IdempotentHandlers,
    ProblemDetails,
    PurgeService,
    StartUpCheck,
    IdempotencyService,
  ],
  exports: [IdempotencyEngine, IdempotentHandlers, ProblemDetails, IdempotencyService, IdempotencyStore],
})
export class IdempotencyModule
  extends ConfigurableModuleClass
  implements OnModuleInit, BeforeApplicationShutdown
{
  private isStoreOpen = false;

  constructor(
    @Inject(IdempotencyEngine) private readonly engine: IdempotencyEngine,
    @Inject(IdempotencyStore) private readonly store: IdempotencyStore,
  ) {
    super();
  }

  /** After the check of the handlers, which is a provider. */
  async onModuleInit(): Promise<void> {
    await this.store.open?.();
    this.isStoreOpen = true;
  }

  /** Handlers that run are let to finish while the DataSource and the store are still there. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.engine.close(SHUTDOWN_PATIENCE);
    if (this.isStoreOpen) {
      // Once for each time that it was opened: another application may share it.
      this.isStoreOpen = false;
      await this.store.close?.();
    }
  }
}
