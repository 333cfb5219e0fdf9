import { IdempotencyContext, Idempotent, type IdempotentContext } from '@exactly-once/nestjs';
import { Controller, Param, Post } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiNotFoundResponse,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentUser } from '../auth/current-user.decorator.js';
import type { User } from '../auth/user.js';
import { ApiIdempotent } from '../docs/api-idempotent.decorator.js';
import { OrderIdPipe } from '../orders/order-id.pipe.js';
import { StepsFactory } from '../steps/steps.factory.js';
import { PaymentResponse } from './payment.response.js';
import { PaymentsService } from './payments.service.js';

/** The effect is at the payment gateway, where no transaction of ours reaches: `lease` mode. */
@ApiTags('payments')
@ApiBearerAuth()
@Controller('orders/:id')
export class PaymentsController {
  constructor(
    private readonly payments: PaymentsService,
    private readonly steps: StepsFactory,
  ) {}

  /**
   * In steps: a retry goes on where the attempt before has died, or has failed without a final answer. The gateway takes a
   * key for each charge, so one that is repeated moves no money.
   */
  @Post('pay')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry', storeIf: ({ status }) => status < 500 })
  @ApiIdempotent()
  @ApiCreatedResponse({ type: PaymentResponse })
  @ApiResponse({ status: 402, description: 'The payment was declined' })
  @ApiNotFoundResponse({ description: 'No order of yours has this id' })
  async pay(
    @CurrentUser() user: User,
    @Param('id', OrderIdPipe) id: string,
    @IdempotencyContext() context: IdempotentContext,
  ): Promise<PaymentResponse> {
    const order = await this.payments.pay(user.id, id, this.steps.of(context, id));
    return PaymentResponse.from(order);
  }

  /** The gateway takes no key for refunds: after a crash the money may have moved, and a person must look. */
  @Post('refund')
  @Idempotent({ mode: 'lease', onAbandoned: 'fail' })
  @ApiIdempotent()
  @ApiCreatedResponse({ type: PaymentResponse })
  @ApiNotFoundResponse({ description: 'No order of yours has this id' })
  async refund(@CurrentUser() user: User, @Param('id', OrderIdPipe) id: string): Promise<PaymentResponse> {
    return PaymentResponse.from(await this.payments.refund(user.id, id));
  }
}
