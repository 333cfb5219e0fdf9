import {
  type ChargeRequest,
  type CustomerRequest,
  PaymentDeclinedError,
  PaymentGateway,
  PaymentKeyReusedError,
  type RefundRequest,
} from './payment-gateway.js';

/** Milliseconds. */
const TIME_LIMIT = 10_000;

/** A payment provider over HTTP. Its answers are `{ id }`, or 402 or 422 (the key belongs to another call) with `{ message }`. */
export class HttpPaymentGateway extends PaymentGateway {
  constructor(private readonly url: string) {
    super();
  }

  createCustomer({ idempotencyKey, ...customer }: CustomerRequest): Promise<string> {
    return this.post('/customers', customer, idempotencyKey);
  }

  charge({ idempotencyKey, ...charge }: ChargeRequest): Promise<string> {
    return this.post('/charges', charge, idempotencyKey);
  }

  refund(refund: RefundRequest): Promise<string> {
    return this.post('/refunds', refund);
  }

  private async post(path: string, body: object, idempotencyKey?: string): Promise<string> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIME_LIMIT),
    });
    const answer = (await response.json()) as { id: string; message?: string };
    if (response.status === 402) {
      throw new PaymentDeclinedError(answer.message ?? 'The payment was declined.');
    }
    if (response.status === 422) {
      throw new PaymentKeyReusedError(answer.message ?? 'The key belongs to another call.');
    }
    if (!response.ok) {
      throw new Error(`The payment gateway answered ${response.status} to ${path}.`);
    }
    return answer.id;
  }
}
