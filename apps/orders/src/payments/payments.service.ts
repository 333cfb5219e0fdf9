import { ConflictException, HttpException, HttpStatus, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { OrderStatus } from '../orders/order-status.js';
import { Order } from '../orders/order.entity.js';
import { OrdersService } from '../orders/orders.service.js';
import { GatewayCustomers } from './gateway-customers.service.js';
import { type ChargeRequest, PaymentDeclinedError, PaymentGateway } from './payment-gateway.js';
import type { Steps } from '../steps/steps.interface.js';

type OrderState = Partial<Pick<Order, 'status' | 'chargeId' | 'refundId'>>;

/** An order moves on before the gateway is called, so that two payments of one order cannot both charge it. */
@Injectable()
export class PaymentsService {
  constructor(
    @InjectRepository(Order) private readonly repository: Repository<Order>,
    private readonly orders: OrdersService,
    private readonly customers: GatewayCustomers,
    private readonly gateway: PaymentGateway,
  ) {}

  /**
   * Can be begun again after a crash or an error at any line: the order that is `paying` is known to be this payment's
   * by the step that made it so, and the gateway charges once for each step key.
   */
  async pay(customerId: string, id: string, steps: Steps): Promise<Order> {
    await steps.transactionalStep('begin', async (manager) => {
      await this.advance(manager, customerId, id, OrderStatus.Created, OrderStatus.Paying);
    });
    const order = await this.orders.findOne(customerId, id);
    // No step: whoever repeats it, and in whichever payment, gets the same customer.
    const customer = await this.customers.idOf(customerId);
    // With the order in its key: the gateway may remember keys for longer than we do, and after that time a client may use
    // its own one again, for another order.
    const charge = await steps.step('charge', (stepKey) =>
      this.charge({ ...paymentOf(order), customer, idempotencyKey: `${stepKey}-${order.id}` }),
    );
    if ('declined' in charge) {
      await this.end(order, { status: OrderStatus.Created }, steps);
      throw new HttpException(`The payment was declined: ${charge.declined}`, HttpStatus.PAYMENT_REQUIRED);
    }
    return this.end(order, { status: OrderStatus.Paid, chargeId: charge.id }, steps);
  }

  /** When the gateway gives no answer, the order stays `refunding`: the money may have moved. */
  async refund(customerId: string, id: string): Promise<Order> {
    const order = await this.advance(
      this.repository.manager,
      customerId,
      id,
      OrderStatus.Paid,
      OrderStatus.Refunding,
    );
    const refundId = await this.gateway.refund({ ...paymentOf(order), chargeId: order.chargeId! });
    return this.record(this.repository.manager, order, { status: OrderStatus.Refunded, refundId });
  }

  /** Of two requests at the same moment, the one whose conditional update finds the order may go on. */
  private async advance(
    manager: EntityManager,
    customerId: string,
    id: string,
    from: OrderStatus,
    to: OrderStatus,
  ): Promise<Order> {
    const { affected } = await manager.update(Order, { id, customerId, status: from }, { status: to });
    const order = await this.orders.findOne(customerId, id, manager);
    if (affected !== 1) {
      throw new ConflictException(`Order ${id} is ${order.status}; it would have to be ${from}.`);
    }
    return order;
  }

  /** A refusal is a result like any other: another attempt must not ask anew when the order may be paid otherwise. */
  private async charge(request: ChargeRequest): Promise<{ id: string } | { declined: string }> {
    try {
      return { id: await this.gateway.charge(request) };
    } catch (error) {
      if (error instanceof PaymentDeclinedError) {
        return { declined: error.message };
      }
      throw error;
    }
  }

  /** As a step, since an attempt that was taken over must not write: the order may have moved on. */
  private async end(order: Order, state: OrderState, steps: Steps): Promise<Order> {
    await steps.transactionalStep('end', async (manager) => {
      await this.record(manager, order, state);
    });
    return Object.assign(order, state);
  }

  private async record(manager: EntityManager, order: Order, state: OrderState): Promise<Order> {
    await manager.update(Order, { id: order.id }, state);
    return Object.assign(order, state);
  }
}

function paymentOf({ id, total, currency }: Order): { orderId: string; amount: number; currency: string } {
  return { orderId: id, amount: total, currency };
}
