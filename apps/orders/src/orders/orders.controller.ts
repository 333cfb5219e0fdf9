import { IdempotencyContext, Idempotent, type IdempotentContext } from '@exactly-once/nestjs';
import { Body, Controller, Get, Param, Post, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentUser } from '../auth/current-user.decorator.js';
import type { User } from '../auth/user.js';
import { ApiIdempotent } from '../docs/api-idempotent.decorator.js';
import type { Reply } from '../http/reply.js';
import { StepsFactory } from '../steps/steps.factory.js';
import { contentOf, CreateOrderDto } from './dto/create-order.dto.js';
import { OrderResponse } from './dto/order.response.js';
import { OrderConfirmation } from './order-confirmation.js';
import { OrderIdPipe } from './order-id.pipe.js';
import { OrdersService } from './orders.service.js';

@ApiTags('orders')
@ApiBearerAuth()
@Controller('orders')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly confirmation: OrderConfirmation,
    private readonly steps: StepsFactory,
  ) {}

  /**
   * The order, its stock and the note that it is placed are committed in one transaction, which on Postgres is that of the
   * idempotency record. On Redis an attempt that died or failed may have committed it all the same: a retry gets what that
   * one would have answered, so it may go on.
   */
  @Post()
  @Idempotent({ onAbandoned: 'retry', storeIf: ({ status }) => status < 500 })
  @ApiIdempotent()
  @ApiCreatedResponse({ type: OrderResponse, headers: { Location: { schema: { type: 'string' } } } })
  async create(
    @CurrentUser() user: User,
    @Body() body: CreateOrderDto,
    @Res({ passthrough: true }) reply: Reply,
    @IdempotencyContext() context: IdempotentContext,
  ): Promise<OrderResponse> {
    const order = await this.steps
      .of(context, contentOf(body))
      .transactionalStep('place', async (manager) =>
        OrderResponse.from(await this.orders.place(manager, user.id, body)),
      );
    // Not before the commit, or an order that was rolled back would be confirmed. A crash just after it loses this mail; a
    // mail that must be sent is a row written with the order, which a job works off (an outbox).
    context.afterCommit(() => this.confirmation.send({ id: order.id, customerId: user.id }));
    reply.header('Location', `/v1/orders/${order.id}`);
    return order;
  }

  @Get()
  @ApiOkResponse({ type: [OrderResponse], description: 'The newest 50' })
  async list(@CurrentUser() user: User): Promise<OrderResponse[]> {
    const orders = await this.orders.list(user.id);
    return orders.map((order) => OrderResponse.from(order));
  }

  @Get(':id')
  @ApiOkResponse({ type: OrderResponse })
  @ApiNotFoundResponse({ description: 'No order of yours has this id' })
  async findOne(@CurrentUser() user: User, @Param('id', OrderIdPipe) id: string): Promise<OrderResponse> {
    return OrderResponse.from(await this.orders.findOne(user.id, id));
  }
}
