import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { type CreateOrder, Order } from '../order.js';

/** Knows nothing of idempotency. */
@Injectable()
export class OrdersService {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  place(order: CreateOrder): Promise<Order> {
    return this.orders.save(order);
  }
}
