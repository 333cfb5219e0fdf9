import { Idempotent } from '@exactly-once/nestjs';
import { Body, Controller, Post, UseGuards } from '@nestjs/common';
import { CreateOrder, type Order } from '../order.js';
import { AuthGuard } from './auth.guard.js';
import { OrdersService } from './orders.service.js';

@Controller('orders')
@UseGuards(AuthGuard)
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  @Idempotent()
  create(@Body() body: CreateOrder): Promise<Order> {
    return this.orders.place(body);
  }
}
