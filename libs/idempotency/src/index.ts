// Module
export { IdempotencyModule } from './idempotency.module.js';
export { IdempotencyService } from './idempotency.service.js';
export type {
  IdempotencyRunOptions,
  IdempotencyRunRequest,
  IdempotencyTarget,
} from './idempotency.service.js';
export { IDEMPOTENCY_PURGE_INTERVAL } from './maintenance/purge.service.js';

// Decorators
export { Idempotent } from './decorators/idempotent.decorator.js';
export { IdempotencyContext } from './decorators/idempotency-context.decorator.js';
export { IdempotencyKey } from './decorators/idempotency-key.decorator.js';
export type { IdempotentContext } from './engine/idempotent-context.js';

// Options
export type * from './options/idempotent-options.interface.js';
export type * from './options/module-options.interface.js';
export type { ByteSize, Duration } from './options/duration.js';
export type { KeyFormat } from './http/key-syntax.js';

// HTTP
export { IdempotencyGuard } from './http/idempotency.guard.js';
export { IdempotencyInterceptor } from './http/idempotency.interceptor.js';
export { IdempotencyExceptionFilter } from './http/idempotency-exception.filter.js';
export { IDEMPOTENCY_KEY_HEADER, IDEMPOTENT_REPLAYED_HEADER } from './idempotency.constants.js';

// Stores
export { InMemoryIdempotencyStore, type InMemoryStoreOptions } from './memory/in-memory-idempotency.store.js';
export { AtomicRecordStore } from './store/atomic-record.store.js';
export type { RecordChange, StoredRecord } from './store/stored-record.js';
export * from './store/idempotency-store.interface.js';
export type { ClaimTarget, ExistingRecord } from './store/claim.js';
export { NOBODY } from './store/nobody.js';
export {
  type BatchLimits,
  type BatchOptions,
  BatchQueue,
  type BatchWork,
  SINGLE,
} from './batching/batch-queue.js';
export { Deadline, withTimeLimit } from './engine/time-limit.js';
export { StoreUnreachableError } from './store/store-unreachable.error.js';
export type { HeaderValue, RecordedResponse, StoredResponse } from './engine/stored-response.js';
export type { RecordIdentity } from './engine/record-id.js';

// Errors
export * from './errors/index.js';

// TypeORM
export { IdempotencyRecord } from './typeorm/idempotency-record.entity.js';
export { idempotencyMigrations } from './typeorm/migrations/index.js';
export { idempotencySchemaSql } from './typeorm/record-schema.js';

// MariaDB
export { MariaDbIdempotencyStore } from './typeorm/mariadb/mariadb-idempotency.store.js';
export { mariaDbIdempotencyMigrations } from './typeorm/mariadb/migrations.js';
