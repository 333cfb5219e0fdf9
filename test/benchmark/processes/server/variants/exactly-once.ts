import {
  Idempotent,
  IdempotencyModule,
  IdempotencyRecord,
  IdempotencyService,
  idempotencyMigrations,
  type IdempotencyModuleOptions,
} from '@exactly-once/nestjs';

import type { ServerSettings } from '../settings.js';
import type { Variant } from './variant.js';

/** By variant; an option that the library does not have is refused when the server starts. */
const OPTIONS: Record<string, Partial<IdempotencyModuleOptions> & { batching?: false }> = {
  transaction: { mode: 'transaction' },
  lease: { mode: 'lease' },
  'lease-unbatched': { mode: 'lease', batching: false },
};

export function createVariant({ variant }: ServerSettings): Variant {
  // Without the purge in the background, which would strike one of the measurements.
  const options = { scope: () => 'benchmark', purge: false, ...OPTIONS[variant] } as const;
  return {
    protect: Idempotent(),
    imports: [IdempotencyModule.forRoot(options)],
    entities: [IdempotencyRecord],
    migrations: [...idempotencyMigrations],
    purge: (app) => app.get(IdempotencyService).purge(),
  };
}
