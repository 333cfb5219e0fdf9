import type { IdempotencyStore } from '@exactly-once/nestjs';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import type { ConfigService } from '@nestjs/config';
import type { Environment } from './environment.js';

/** @returns undefined for Postgres, which needs no store of its own */
export function idempotencyStore(config: ConfigService<Environment, true>): IdempotencyStore | undefined {
  return config.get('IDEMPOTENCY_STORE', { infer: true }) === 'redis'
    ? new RedisIdempotencyStore(config.get('REDIS_URL', { infer: true }))
    : undefined;
}
