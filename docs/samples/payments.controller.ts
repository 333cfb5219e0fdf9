import { IdempotencyContext, Idempotent, type IdempotentContext, nothingDone } from '@exactly-once/nestjs';
import { Controller, Param, Post, ServiceUnavailableException } from '@nestjs/common';

/** The client of a payment provider. */
export abstract class PaymentProvider {
  /** Charges once for each `idempotencyKey`, however often it is asked. */
  abstract charge(orderId: string, idempotencyKey: string, signal?: AbortSignal): Promise<{ id: string }>;
}

/** The provider refused before it did anything. */
export class TooBusyError extends Error {}

@Controller('orders')
export class PaymentsController {
  constructor(private readonly provider: PaymentProvider) {}

  // #region pay
  @Post(':id/pay')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  async pay(@Param('id') id: string, @IdempotencyContext() context: IdempotentContext) {
    try {
      // The same in every attempt, and of each user another one.
      const charge = await this.provider.charge(id, context.deriveKey('charge'));
      return { charge: charge.id };
    } catch (error) {
      if (error instanceof TooBusyError) {
        // No money has moved, so the key is freed and a retry asks the provider again.
        throw nothingDone(new ServiceUnavailableException('The payment provider is busy.'));
      }
      throw error;
    }
  }
  // #endregion
}
