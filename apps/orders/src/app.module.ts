import { IdempotencyModule } from '@exactly-once/nestjs';
import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { ScheduleModule } from '@nestjs/schedule';
import { AuthModule } from './auth/auth.module.js';
import type { User } from './auth/user.js';
import type { Environment } from './config/environment.js';
import { idempotencyStore } from './config/idempotency-store.js';
import { validateEnvironment } from './config/validate-environment.js';
import { DatabaseModule } from './database/database.module.js';
import { HealthModule } from './health/health.module.js';
import { IdleConnections } from './http/idle-connections.js';
import { OrdersModule } from './orders/orders.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { ProductsModule } from './products/products.module.js';

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true, cache: true, validate: validateEnvironment }),
    ScheduleModule.forRoot(),
    DatabaseModule,
    IdempotencyModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService<Environment, true>) => ({
        // A key belongs to the user who sent it: two users may send the same one.
        scope: (request: { user?: User }) => request.user?.id,
        store: idempotencyStore(config),
        ttl: config.get('IDEMPOTENCY_TTL', { infer: true }),
        lockTtl: config.get('LOCK_TTL', { infer: true }),
        purge: { interval: config.get('PURGE_INTERVAL', { infer: true }) },
      }),
    }),
    AuthModule,
    HealthModule,
    ProductsModule,
    OrdersModule,
    PaymentsModule,
  ],
  providers: [IdleConnections],
})
export class AppModule {}
