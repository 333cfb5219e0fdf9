import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';

import { Order } from './order.entity.js';
import type { ServerSettings } from './settings.js';
import type { Variant } from './variants/variant.js';
import { workController } from './work.controller.js';

@Module({})
export class AppModule {
  /** The same app for every variant, apart from what protects its handlers. */
  static with({ databaseUrl, poolSize }: ServerSettings, variant: Variant): DynamicModule {
    const entities = [Order, ...(variant.entities ?? [])];
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: databaseUrl,
          entities,
          migrations: variant.migrations ?? [],
          migrationsRun: true,
          poolSize,
          retryAttempts: 0,
        }),
        TypeOrmModule.forFeature(entities),
        ...(variant.imports ?? []),
      ],
      controllers: [workController(variant.protect)],
    };
  }
}
