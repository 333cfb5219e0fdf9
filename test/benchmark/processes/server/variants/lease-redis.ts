import { Idempotent, IdempotencyModule } from '@exactly-once/nestjs';
import { RedisIdempotencyStore } from '@exactly-once/redis';

import type { ServerSettings } from '../settings.js';
import type { Variant } from './variant.js';

/** The library with its records in Redis, where they expire by themselves, and its defaults. */
export function createVariant({ redisUrl }: ServerSettings): Variant {
  const store = new RedisIdempotencyStore(redisUrl!);
  return {
    protect: Idempotent(),
    imports: [IdempotencyModule.forRoot({ scope: () => 'benchmark', mode: 'lease', store })],
  };
}
