/** Money is in the currency's minor unit. */
interface PaymentRequest {
  orderId: string;
  amount: number;
  currency: string;
}

export interface ChargeRequest extends PaymentRequest {
  /** The gateway's id of the customer. */
  customer: string;
  /** The gateway charges once for each value, however often it is asked. */
  idempotencyKey: string;
}

export interface CustomerRequest {
  customerId: string;
  /** The gateway creates one customer for each value. */
  idempotencyKey: string;
}

export interface RefundRequest extends PaymentRequest {
  chargeId: string;
}

/** What the application needs from whoever moves the money. It is the injection token, too. */
export abstract class PaymentGateway {
  /** @returns the gateway's id of the customer */
  abstract createCustomer(request: CustomerRequest): Promise<string>;

  /**
   * @returns the id of the charge
   * @throws PaymentDeclinedError when no money was moved, and no retry would change that
   * @throws PaymentKeyReusedError when the key belongs to another charge
   */
  abstract charge(request: ChargeRequest): Promise<string>;

  /** @returns the id of the refund */
  abstract refund(request: RefundRequest): Promise<string>;
}

export class PaymentDeclinedError extends Error {
  override readonly name = 'PaymentDeclinedError';
}

/** A fault of ours, and no refusal of a payment: money may have moved with the request that the key belongs to. */
export class PaymentKeyReusedError extends Error {
  override readonly name = 'PaymentKeyReusedError';
}
