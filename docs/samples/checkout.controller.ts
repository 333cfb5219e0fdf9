import { IdempotencyContext, Idempotent, type IdempotentContext } from '@exactly-once/nestjs';
import { Controller, Param, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';
import { PaymentProvider } from './payments.controller.js';

@Entity({ name: 'shipments' })
export class Shipment {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id: number;

  @Column({ type: 'text' })
  orderId: string;

  @Column({ type: 'text' })
  chargeId: string;
}

export abstract class Mailer {
  /** Sends one mail for each `messageId`, however often it is asked. */
  abstract sendReceipt(orderId: string, messageId: string): Promise<void>;
}

/** A screen in the warehouse, which also asks for news by itself every minute. */
export abstract class WarehouseScreen {
  abstract refresh(): Promise<void>;
}

@Controller('orders')
export class CheckoutController {
  constructor(
    private readonly payments: PaymentProvider,
    private readonly mailer: Mailer,
    private readonly screen: WarehouseScreen,
    @InjectRepository(Shipment) private readonly shipments: Repository<Shipment>,
  ) {}

  // #region checkout
  @Post(':id/checkout')
  @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
  async checkout(@Param('id') orderId: string, @IdempotencyContext() context: IdempotentContext) {
    const charge = await context.step('charge', (stepKey) =>
      this.payments.charge(orderId, stepKey, context.signal),
    );
    const shipment = await context.transactionalStep('ship', () =>
      this.shipments.save({ orderId, chargeId: charge.id }),
    );
    await context.step('mail', (stepKey) => this.mailer.sendReceipt(orderId, stepKey));
    context.afterCommit(() => this.screen.refresh());
    return { charge: charge.id, shipment: shipment.id };
  }
  // #endregion
}
