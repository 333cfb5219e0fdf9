import { CreateIdempotencyRecords1790000000000 } from './1790000000000-create-idempotency-records.js';

/**
 * The migrations that create and change the table of records, in order. Put them before your own:
 * `migrations: [...idempotencyMigrations, …]`.
 *
 * @publicApi
 */
export const idempotencyMigrations = [CreateIdempotencyRecords1790000000000];
