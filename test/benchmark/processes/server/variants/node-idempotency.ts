import { Idempotent, NodeIdempotencyModule, StorageAdapterEnum } from '@node-idempotency/nestjs';

import type { ServerSettings } from '../settings.js';
import type { Variant } from './variant.js';

/** `@node-idempotency/nestjs` with its Redis adapter and its defaults. */
export function createVariant({ redisUrl }: ServerSettings): Variant {
  const storage = { adapter: StorageAdapterEnum.redis, options: { url: redisUrl } };
  return {
    protect: Idempotent(),
    imports: [NodeIdempotencyModule.forRootAsync({ storage })],
  };
}
