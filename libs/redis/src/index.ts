export {
  RedisIdempotencyStore,
  type RedisConnection,
  type RedisStoreOptions,
} from './redis-idempotency.store.js';
