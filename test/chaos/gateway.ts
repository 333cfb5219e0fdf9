import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Journal } from './journal.js';
import type { Random } from './random.js';

/** Above this, in the minor unit of any currency, every charge is declined. */
export const GATEWAY_LIMIT = 300_000;

export interface PaymentRequest {
  orderId: string;
  amount: number;
  currency: string;
}

/** Money that has moved. */
export interface Movement extends PaymentRequest {
  id: string;
  at: number;
}

export interface GatewayCall {
  path: string;
  key: string | undefined;
  orderId: string;
  at: number;
}

type Reply = [status: number, body: object];

/**
 * A payment gateway that honours idempotency keys as real ones do: of the calls with one key the first moves
 * money, and all get its answer. Refunds take no key. Calls and movements are recorded apart.
 */
export class Gateway {
  readonly calls: GatewayCall[] = [];
  readonly charges: Movement[] = [];
  readonly refunds: Movement[] = [];
  /** Calls that break the rules of the gateway, in words. */
  readonly misuses: string[] = [];
  private readonly replies = new Map<string, { request: string; reply: Promise<Reply> }>();
  private readonly server: Server;

  private constructor(
    private readonly random: Random,
    private readonly journal: Journal,
  ) {
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  static async start(random: Random, journal: Journal): Promise<Gateway> {
    const gateway = new Gateway(random, journal);
    gateway.server.listen(0, '127.0.0.1');
    await once(gateway.server, 'listening');
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The caller may die at any time; money that has moved stays moved.
    response.on('error', () => undefined);
    try {
      const payment = (await json(request)) as PaymentRequest;
      const key = request.headers['idempotency-key'] as string | undefined;
      const path = request.url!;
      this.calls.push({ path, key, orderId: payment.orderId, at: this.journal.now() });
      const [status, body] = await (path === '/charges' ? this.charge(payment, key) : this.refund(payment));
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    } catch {
      response.destroy();
    }
  }

  private charge(payment: PaymentRequest, key: string | undefined): Promise<Reply> {
    if (key === undefined) {
      this.misuses.push(`a charge of order ${payment.orderId} without a key`);
      return Promise.resolve([400, { message: 'A charge needs the header Idempotency-Key.' }]);
    }
    const request = JSON.stringify([payment.orderId, payment.amount, payment.currency]);
    const known = this.replies.get(key);
    if (known && known.request !== request) {
      this.misuses.push(`the key ${key} for ${known.request} and for ${request}`);
      return Promise.resolve([422, { message: 'This key belongs to another charge.' }]);
    }
    const reply = known?.reply ?? this.firstCharge(payment);
    this.replies.set(key, { request, reply });
    return reply;
  }

  private async firstCharge(payment: PaymentRequest): Promise<Reply> {
    if (payment.amount > GATEWAY_LIMIT) {
      await sleep(this.random.between(5, 100));
      return [402, { message: `${payment.amount} is over the limit of ${GATEWAY_LIMIT}.` }];
    }
    return this.move('ch', this.charges, payment);
  }

  private refund(payment: PaymentRequest): Promise<Reply> {
    return this.move('re', this.refunds, payment);
  }

  /** Takes its time before and after the money moves, now and then longer than a lease. */
  private async move(prefix: string, movements: Movement[], payment: PaymentRequest): Promise<Reply> {
    const latency = this.random.chance(0.03)
      ? this.random.between(1_000, 4_000)
      : this.random.between(10, 250);
    const before = latency * this.random.next();
    await sleep(before);
    const id = `${prefix}_${movements.length + 1}`;
    movements.push({ ...payment, id, at: this.journal.now() });
    await sleep(latency - before);
    return [201, { id }];
  }
}
