import type { Mode } from '../options.js';
import type { Random } from '../random.js';
import { drawCommonItems, ownProduct, SOLD_OUT, TOO_EXPENSIVE } from '../shop.js';
import type { Client } from './client.js';
import { Intent, type OrderPlan } from './intent.js';

const TOKENS = ['demo-alice', 'demo-bob'];

/** What all clients of one run want, in the order in which they began to. */
export class Workload {
  readonly intents: Intent[] = [];
  private number = 0;

  /**
   * @param room for how many intents there are products
   */
  constructor(
    private readonly mode: Mode,
    readonly room: number,
  ) {}

  /** One client's life: one order after the other, in `lease` mode with their payments and refunds. */
  async run(client: Client, stop: AbortSignal): Promise<void> {
    const { random } = client;
    while (!stop.aborted && this.number < this.room) {
      const order = await this.order(client, random);
      if (this.mode === 'lease' && order.isSuccess && !stop.aborted) {
        await this.payAndRefund(order, client, random, stop);
      }
    }
  }

  private async order(client: Client, random: Random): Promise<Intent> {
    this.number += 1;
    const own = { sku: ownProduct(this.number), quantity: random.integer(1, 5) };
    const plan: OrderPlan = { own, items: [...drawCommonItems(random), own] };
    const isRefused = this.mode === 'transaction' && random.chance(0.1);
    if (isRefused) plan.items.push({ sku: SOLD_OUT, quantity: 1 });
    if (this.mode === 'lease' && random.chance(0.1)) plan.items.push({ sku: TOO_EXPENSIVE, quantity: 1 });
    return this.settle(
      client,
      new Intent(`order-${this.number}`, random.pick(TOKENS), { type: 'order', plan }, isRefused ? 409 : 201),
    );
  }

  private async payAndRefund(
    order: Intent,
    client: Client,
    random: Random,
    stop: AbortSignal,
  ): Promise<void> {
    const {
      id: orderId,
      total,
      items,
    } = order.result<{ id: string; total: number; items: { sku: string }[] }>();
    const isDeclined = items.some(({ sku }) => sku === TOO_EXPENSIVE);
    const pay = await this.settle(
      client,
      new Intent(
        `pay-${order.key}`,
        order.token,
        { type: 'pay', orderId, amount: total },
        isDeclined ? 402 : 201,
      ),
    );
    if (pay.isSuccess && random.chance(0.75) && !stop.aborted) {
      await this.settle(
        client,
        new Intent(`refund-${order.key}`, order.token, { type: 'refund', orderId }, 201),
      );
    }
  }

  private async settle(client: Client, intent: Intent): Promise<Intent> {
    this.intents.push(intent);
    await client.settle(intent);
    return intent;
  }
}
