import { Idempotent } from '@exactly-once/nestjs';
import { Body, Controller, Post, UseGuards } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AuthGuard } from './auth.guard.js';
import { Order } from './order.entity.js';

@Controller('orders')
@UseGuards(AuthGuard)
export class OrdersController {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  @Post()
  @Idempotent()
  create(@Body() body: { item: string }): Promise<Order> {
    return this.orders.save({ item: body.item });
  }
}
