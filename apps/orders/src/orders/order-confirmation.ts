import { Injectable, Logger } from '@nestjs/common';
import type { Order } from './order.entity.js';

/** Sends no mail: it logs what a real one would send. */
@Injectable()
export class OrderConfirmation {
  private readonly logger = new Logger(OrderConfirmation.name);

  send({ id: orderId, customerId }: Pick<Order, 'id' | 'customerId'>): void {
    this.logger.log('Confirmed an order', { event: 'mail.order-confirmation', orderId, customerId });
  }
}
