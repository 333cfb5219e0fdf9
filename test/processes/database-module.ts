import { IdempotencyModule, IdempotencyRecord } from '@exactly-once/nestjs';
import type { ModuleMetadata } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';

import { Effect } from '../support/effect.entity.js';
import type { ProcessSettings } from './settings.js';

/** What the module of a process imports: the database of its test, and the library. */
export function databaseAndLibrary({ databaseUrl, options }: ProcessSettings): ModuleMetadata['imports'] {
  return [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: databaseUrl,
      entities: [IdempotencyRecord, Effect],
      retryAttempts: 0,
    }),
    TypeOrmModule.forFeature([Effect]),
    IdempotencyModule.forRoot({ scope: false, ...options }),
  ];
}
