import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import type { Environment } from '../config/environment.js';
import {
  type ChargeRequest,
  PaymentDeclinedError,
  PaymentGateway,
  type RefundRequest,
} from './payment-gateway.js';

/** Milliseconds. */
const TIME_LIMIT = 10_000;

/** A payment provider over HTTP, at `GATEWAY_URL`. Its answers are `{ id }`, or 402 with `{ message }`. */
@Injectable()
export class HttpPaymentGateway extends PaymentGateway {
  private readonly url: string;

  constructor(config: ConfigService<Environment, true>) {
    super();
    this.url = config.getOrThrow('GATEWAY_URL', { infer: true });
  }

  charge({ idempotencyKey, ...charge }: ChargeRequest): Promise<string> {
    return this.post('/charges', charge, { 'Idempotency-Key': idempotencyKey });
  }

  refund(refund: RefundRequest): Promise<string> {
    return this.post('/refunds', refund);
  }

  private async post(path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIME_LIMIT),
    });
    const answer = (await response.json()) as { id: string; message?: string };
    if (response.status === 402) {
      throw new PaymentDeclinedError(answer.message ?? 'The payment was declined.');
    }
    if (!response.ok) {
      throw new Error(`The payment gateway answered ${response.status} to ${path}.`);
    }
    return answer.id;
  }
}
