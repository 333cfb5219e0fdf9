import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ProductsModule } from '../products/products.module.js';
import { OrderConfirmation } from './order-confirmation.js';
import { OrderLine } from './order-line.entity.js';
import { Order } from './order.entity.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Order, OrderLine]), ProductsModule],
  controllers: [OrdersController],
  providers: [OrdersService, OrderConfirmation],
  exports: [OrdersService],
})
export class OrdersModule {}
