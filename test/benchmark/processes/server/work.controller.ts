import { Body, Controller, Post, type Type } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { executions } from './executions.js';
import { Order } from './order.entity.js';

/** Milliseconds that the slow handler takes. */
const SLOW = 200;

interface OrderBody {
  item: string;
  amount: number;
}

/** The handlers that are measured, each protected by the same decorator. */
export function workController(protect: MethodDecorator): Type {
  @Controller()
  class WorkController {
    constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

    @Post('no-op')
    @protect
    noOp(@Body() body: OrderBody) {
      executions.count += 1;
      return body;
    }

    @Post('save')
    @protect
    async save(@Body() { item, amount }: OrderBody) {
      executions.count += 1;
      return this.orders.save({ item, amount });
    }

    @Post('slow')
    @protect
    async slow(@Body() body: OrderBody) {
      executions.count += 1;
      await sleep(SLOW);
      return body;
    }
  }
  return WorkController;
}
