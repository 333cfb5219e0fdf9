import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { toMilliseconds } from '../config/duration.js';
import type { Environment } from '../config/environment.js';
import {
  type ChargeRequest,
  PaymentDeclinedError,
  PaymentGateway,
  type RefundRequest,
} from './payment-gateway.js';

/** Above this, in the minor unit of any currency, every charge is declined. */
const LIMIT = 300_000;

/**
 * Moves no money: it logs each charge and refund that it executes, at once, and takes its time to answer, as
 * real ones do. Unlike them it does not remember `idempotencyKey`, so its log shows how often it was asked.
 */
@Injectable()
export class FakePaymentGateway extends PaymentGateway {
  private readonly logger = new Logger(FakePaymentGateway.name);
  private readonly latency: number;

  constructor(config: ConfigService<Environment, true>) {
    super();
    this.latency = toMilliseconds(config.get('GATEWAY_LATENCY', { infer: true }));
  }

  async charge({ orderId, amount, currency }: ChargeRequest): Promise<string> {
    if (amount > LIMIT) {
      await sleep(this.latency);
      throw new PaymentDeclinedError(`${amount} ${currency} is over the limit of ${LIMIT}.`);
    }
    const chargeId = `ch_${randomUUID()}`;
    this.logger.log('Charged', { event: 'gateway.charge', orderId, amount, currency, chargeId });
    await sleep(this.latency);
    return chargeId;
  }

  async refund({ orderId, amount, currency, chargeId }: RefundRequest): Promise<string> {
    const refundId = `re_${randomUUID()}`;
    this.logger.log('Refunded', { event: 'gateway.refund', orderId, amount, currency, chargeId, refundId });
    await sleep(this.latency);
    return refundId;
  }
}
