import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { Gate } from '../support/gate.js';
import type { Journal } from './journal.js';
import type { Random } from './random.js';

/** Above this, in the minor unit of any currency, every charge is declined. */
export const GATEWAY_LIMIT = 300_000;

export interface PaymentRequest {
  /** Of charges: the gateway's id of the customer. */
  customer?: string;
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

interface CustomerRequest {
  customerId: string;
}

/** Somebody whom the gateway knows. */
export interface Customer extends CustomerRequest {
  id: string;
}

type Reply = [status: number, body: object];

/**
 * A payment gateway that honours idempotency keys as real ones do: of the calls with one key the first is
 * executed, and all get its answer. Refunds take no key. Calls and what has come of them are recorded apart.
 */
export class Gateway {
  /** Whether it breaks connections off instead of answering. */
  isDown = false;
  readonly calls: GatewayCall[] = [];
  readonly customers: Customer[] = [];
  /** What the answers to calls for customers wait at. */
  readonly customerGate = new Gate();
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
      if (this.isDown) throw new Error('The gateway is down.');
      const body = (await json(request)) as PaymentRequest & CustomerRequest;
      const key = request.headers['idempotency-key'] as string | undefined;
      const path = request.url!;
      this.calls.push({ path, key, orderId: body.orderId, at: this.journal.now() });
      const [status, answer] = await this.execute(path, key, body);
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    } catch {
      response.destroy();
    }
  }

  private execute(
    path: string,
    key: string | undefined,
    body: PaymentRequest & CustomerRequest,
  ): Promise<Reply> {
    switch (path) {
      case '/customers':
        return this.oncePerKey(key, body, () => this.createCustomer(body));
      case '/charges':
        return this.oncePerKey(key, body, () => this.charge(body));
      default:
        return this.move('re', this.refunds, body);
    }
  }

  private async oncePerKey(
    key: string | undefined,
    body: object,
    execute: () => Promise<Reply>,
  ): Promise<Reply> {
    const request = JSON.stringify(body);
    if (key === undefined) {
      this.misuses.push(`${request} without a key`);
      return [400, { message: 'This call needs the header Idempotency-Key.' }];
    }
    const known = this.replies.get(key);
    if (known && known.request !== request) {
      this.misuses.push(`the key ${key} for ${known.request} and for ${request}`);
      return [422, { message: 'This key belongs to another call.' }];
    }
    const reply = known?.reply ?? execute();
    this.replies.set(key, { request, reply });
    return reply;
  }

  private async createCustomer({ customerId }: CustomerRequest): Promise<Reply> {
    await sleep(this.random.between(5, 100));
    await this.customerGate.pass();
    const id = `cu_${this.customers.length + 1}`;
    this.customers.push({ customerId, id });
    return [201, { id }];
  }

  private async charge(payment: PaymentRequest): Promise<Reply> {
    if (!this.customers.some(({ id }) => id === payment.customer)) {
      this.misuses.push(`a charge of customer ${payment.customer}, whom it does not know`);
    }
    if (payment.amount > GATEWAY_LIMIT) {
      await sleep(this.random.between(5, 100));
      return [402, { message: `${payment.amount} is over the limit of ${GATEWAY_LIMIT}.` }];
    }
    return this.move('ch', this.charges, payment);
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
