import type { JournalEntry } from '../journal.js';
import { CURRENCY, type OrderItem } from '../shop.js';
import { type Answer, isFinal } from './answer.js';

/** An order that a client wants, and what it is of. */
export interface OrderPlan {
  items: OrderItem[];
  /** The product that nobody else orders. */
  own: OrderItem;
}

export type Task =
  | { type: 'order'; plan: OrderPlan }
  | { type: 'pay'; orderId: string; amount: number }
  | { type: 'refund'; orderId: string };

/** Something that a client wants to happen once: one key, and all that was answered to it. */
export class Intent {
  readonly timeline: JournalEntry[] = [];
  /** The answers with a final status that are not the same, byte by byte. One, if all is well. */
  readonly finals: Answer[] = [];
  last: Answer | undefined;

  /**
   * @param key its idempotency key
   * @param expected the status of its final answer, if nothing goes wrong
   */
  constructor(
    readonly key: string,
    readonly token: string,
    readonly task: Task,
    readonly expected: number,
  ) {}

  get path(): string {
    return this.task.type === 'order' ? '/v1/orders' : `/v1/orders/${this.task.orderId}/${this.task.type}`;
  }

  get body(): object | undefined {
    return this.task.type === 'order' ? { items: this.task.plan.items, currency: CURRENCY } : undefined;
  }

  /** The first final answer. */
  get final(): Answer | undefined {
    return this.finals[0];
  }

  get isSuccess(): boolean {
    return this.final !== undefined && this.final.status < 300;
  }

  /** What the client was told in its first final answer. */
  result<T>(): T {
    return JSON.parse(this.final!.body.toString('utf8')) as T;
  }

  note(at: number, text: string): void {
    this.timeline.push({ at, text });
  }

  answered(answer: Answer): void {
    this.last = answer;
    if (isFinal(answer) && !this.finals.some(({ bytes }) => bytes.equals(answer.bytes))) {
      this.finals.push(answer);
    }
  }
}
