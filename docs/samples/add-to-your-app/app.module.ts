import { IdempotencyModule } from '@exactly-once/nestjs';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Order } from '../order.js';
import { dataSourceOptions } from './data-source.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [
    TypeOrmModule.forRoot(dataSourceOptions),
    TypeOrmModule.forFeature([Order]),
    IdempotencyModule.forRoot({
      // A key belongs to the user who sent it: two users may send the same one.
      scope: (request: { user: { id: string } }) => request.user.id,
    }),
  ],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class AppModule {}
