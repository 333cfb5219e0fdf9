import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ProductsModule } from '../products/products.module.js';
import { StepsModule } from '../steps/steps.module.js';
import { OrderConfirmation } from './order-confirmation.js';
import { Order } from './order.entity.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Order]), ProductsModule, StepsModule],
  controllers: [OrdersController],
  providers: [OrdersService, OrderConfirmation],
  exports: [OrdersService],
})
export class OrdersModule {}
