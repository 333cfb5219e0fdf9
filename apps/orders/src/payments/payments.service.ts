import { ConflictException, HttpException, HttpStatus, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { OrderStatus } from '../orders/order-status.js';
import { Order } from '../orders/order.entity.js';
import { OrdersService } from '../orders/orders.service.js';
import { PaymentDeclinedError, PaymentGateway } from './payment-gateway.js';

type OrderState = Partial<Pick<Order, 'status' | 'chargeId' | 'refundId'>>;

/**
 * An order moves on before the gateway is called, so that two payments of one order cannot both
 * charge it. When the gateway gives no answer, the order stays there: the money may have moved.
 */
@Injectable()
export class PaymentsService {
  constructor(
    @InjectRepository(Order) private readonly repository: Repository<Order>,
    private readonly orders: OrdersService,
    private readonly gateway: PaymentGateway,
  ) {}

  /** @param paymentKey lets the gateway charge once, however often this payment reaches it */
  async pay(customerId: string, id: string, paymentKey: string): Promise<Order> {
    const order = await this.advance(customerId, id, OrderStatus.Created, OrderStatus.Paying);
    try {
      const chargeId = await this.gateway.charge({
        orderId: id,
        amount: order.total,
        currency: order.currency,
        // With the order, since two users may send the same key.
        idempotencyKey: `${id}:${paymentKey}`,
      });
      return await this.record(order, { status: OrderStatus.Paid, chargeId });
    } catch (error) {
      if (error instanceof PaymentDeclinedError) {
        await this.record(order, { status: OrderStatus.Created });
        throw new HttpException(`The payment was declined: ${error.message}`, HttpStatus.PAYMENT_REQUIRED);
      }
      throw error;
    }
  }

  async refund(customerId: string, id: string): Promise<Order> {
    const order = await this.advance(customerId, id, OrderStatus.Paid, OrderStatus.Refunding);
    const refundId = await this.gateway.refund({
      orderId: id,
      amount: order.total,
      currency: order.currency,
      chargeId: order.chargeId!,
    });
    return this.record(order, { status: OrderStatus.Refunded, refundId });
  }

  /** Of two requests at the same moment, the one whose conditional update finds the order may go on. */
  private async advance(customerId: string, id: string, from: OrderStatus, to: OrderStatus): Promise<Order> {
    const { affected } = await this.repository.update({ id, customerId, status: from }, { status: to });
    const order = await this.orders.findOne(customerId, id);
    if (affected !== 1) {
      throw new ConflictException(`Order ${id} is ${order.status}; it would have to be ${from}.`);
    }
    return order;
  }

  private async record(order: Order, state: OrderState): Promise<Order> {
    await this.repository.update({ id: order.id }, state);
    return Object.assign(order, state);
  }
}
