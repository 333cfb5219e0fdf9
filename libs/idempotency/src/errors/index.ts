export { IdempotencyErrorCode } from './idempotency-error-code.js';
export { IdempotencyError } from './idempotency.error.js';
export { AmbientTransactionError } from './ambient-transaction.error.js';
export { IdempotencyConfigurationError } from './idempotency-configuration.error.js';
export { nothingDone } from './nothing-done.js';
export * from './key.errors.js';
export * from './outcome.errors.js';
export * from './service.errors.js';
