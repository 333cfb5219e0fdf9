import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { IDEMPOTENCY_RESOLVED_OPTIONS } from '../idempotency.constants.js';
import type { ResolvedModuleOptions } from '../options/resolve-module-options.js';
import { IdempotencyStore } from '../store/idempotency-store.interface.js';

/** Name of the interval in the application's `SchedulerRegistry`. @publicApi */
export const IDEMPOTENCY_PURGE_INTERVAL = 'idempotency-purge';

/** Milliseconds that one batch may take. */
const BATCH_TIME_LIMIT = 30_000;

/** Removes expired records in the background, and on demand, where the store leaves that to us. @internal */
@Injectable()
export class PurgeService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Idempotency');
  private readonly batchSize: number;
  private running: Promise<unknown> | undefined;
  private closing = false;

  constructor(
    @Inject(IdempotencyStore) private readonly store: IdempotencyStore,
    @Inject(IDEMPOTENCY_RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    private readonly moduleRef: ModuleRef,
  ) {
    this.batchSize = options.purge ? options.purge.batchSize : 1_000;
  }

  onApplicationBootstrap(): void {
    if (this.options.purge && this.store.purge) {
      const timer = setInterval(() => this.runInBackground(), this.options.purge.interval);
      this.registry.addInterval(IDEMPOTENCY_PURGE_INTERVAL, timer.unref());
    }
  }

  async onModuleDestroy(): Promise<void> {
    this.closing = true;
    if (this.registry.doesExist('interval', IDEMPOTENCY_PURGE_INTERVAL)) {
      this.registry.deleteInterval(IDEMPOTENCY_PURGE_INTERVAL);
    }
    await this.running;
  }

  /**
   * Removes expired records until none is left, or until another instance is at it.
   *
   * @returns how many this call removed
   */
  async purge(): Promise<number> {
    let removed = 0;
    for (;;) {
      const batch = (await this.store.purge?.(this.batchSize, BATCH_TIME_LIMIT)) ?? 0;
      removed += batch;
      if (this.closing || batch < this.batchSize) {
        return removed;
      }
    }
  }

  private runInBackground(): void {
    this.running ??= this.purge()
      .catch((error: unknown) => {
        this.logger.warn(`Expired records could not be removed; this is tried again. ${String(error)}`);
      })
      .finally(() => {
        this.running = undefined;
      });
  }

  /** The application's own, so that it can see and stop the interval there; without a ScheduleModule, one of ours. */
  private get registry(): SchedulerRegistry {
    this.ownRegistry ??= this.applicationRegistry() ?? new SchedulerRegistry();
    return this.ownRegistry;
  }

  private ownRegistry: SchedulerRegistry | undefined;

  private applicationRegistry(): SchedulerRegistry | undefined {
    try {
      return this.moduleRef.get(SchedulerRegistry, { strict: false });
    } catch {
      return undefined;
    }
  }
}
