import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@nestjs/common';
import type { Repository } from 'typeorm';
import type { FakeGatewayEntry } from './fake-gateway-entry.entity.js';
import {
  type ChargeRequest,
  type CustomerRequest,
  PaymentDeclinedError,
  PaymentGateway,
  PaymentKeyReusedError,
  type RefundRequest,
} from './payment-gateway.js';

/** Above this, in the minor unit of any currency, every charge is declined. */
const LIMIT = 300_000;

/**
 * Moves no money: it logs what it executes, at once, and takes its time to answer, as real ones do. Like them it
 * remembers idempotency keys and what they came with, also when the application is killed, so it stands in the database.
 */
export class FakePaymentGateway extends PaymentGateway {
  private readonly logger = new Logger(FakePaymentGateway.name);

  /** @param latency of every answer, in milliseconds */
  constructor(
    private readonly entries: Repository<FakeGatewayEntry>,
    private readonly latency: number,
  ) {
    super();
  }

  createCustomer({ idempotencyKey, ...request }: CustomerRequest): Promise<string> {
    return this.once(idempotencyKey, request, `cu_${randomUUID()}`, (customer) =>
      this.logger.log('Created a customer', { event: 'gateway.customer', ...request, customer }),
    );
  }

  async charge({ idempotencyKey, ...request }: ChargeRequest): Promise<string> {
    const { orderId, amount, currency } = request;
    // A key that has charged something else must not be declined: that would say that no money has moved.
    if (amount > LIMIT && !(await this.entries.existsBy({ idempotencyKey }))) {
      await sleep(this.latency);
      throw new PaymentDeclinedError(`${amount} ${currency} is over the limit of ${LIMIT}.`);
    }
    return this.once(idempotencyKey, request, `ch_${randomUUID()}`, (chargeId) =>
      this.logger.log('Charged', { event: 'gateway.charge', orderId, amount, currency, chargeId }),
    );
  }

  /** Takes no key, so each call is another refund. */
  async refund({ orderId, amount, currency, chargeId }: RefundRequest): Promise<string> {
    const refundId = `re_${randomUUID()}`;
    this.logger.log('Refunded', { event: 'gateway.refund', orderId, amount, currency, chargeId, refundId });
    await sleep(this.latency);
    return refundId;
  }

  /** Of the calls with one key the first executes, and all that ask for the same get its answer. */
  private async once(
    idempotencyKey: string,
    request: object,
    newId: string,
    execute: (id: string) => void,
  ): Promise<string> {
    await this.entries
      .createQueryBuilder()
      .insert()
      .values({ idempotencyKey, request, id: newId })
      .orIgnore()
      .execute();
    const { id, request: first } = await this.entries.findOneByOrFail({ idempotencyKey });
    if (!isDeepStrictEqual(first, request)) {
      throw new PaymentKeyReusedError(`The key ${idempotencyKey} belongs to another call.`);
    }
    if (id === newId) {
      execute(id);
    } else {
      this.logger.log('Answered a repeated call', { event: 'gateway.repeated', id });
    }
    await sleep(this.latency);
    return id;
  }
}
