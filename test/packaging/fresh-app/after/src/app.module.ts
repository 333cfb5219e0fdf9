import { IdempotencyModule, idempotencyMigrations } from '@exactly-once/nestjs';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CreateOrders1767225600000 } from './create-orders.migration.js';
import { Order } from './order.entity.js';
import { OrdersController } from './orders.controller.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      autoLoadEntities: true,
      migrations: [...idempotencyMigrations, CreateOrders1767225600000],
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([Order]),
    IdempotencyModule.forRoot({ scope: (request) => request.user.id }),
  ],
  controllers: [OrdersController],
})
export class AppModule {}
