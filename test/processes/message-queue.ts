import { Child } from './child.js';
import {
  SETTINGS,
  type ConsumerCommand,
  type ConsumerMessage,
  type Delivery,
  type ProcessSettings,
} from './settings.js';

/** One time that the work of a message was begun. */
export interface Execution {
  by: string;
  attempt: number;
}

/**
 * A queue with several consumers, each in a process of its own, see `consumer.ts`. What they put off, and what one had
 * that died, comes again, to the next of them.
 */
export class MessageQueue {
  readonly executions: Execution[] = [];
  /** What the deliveries gave that were acknowledged, by their numbers. */
  readonly values = new Map<number, unknown>();
  readonly setAside: string[] = [];
  /** Deliveries that have met another one which executes. */
  readonly metInFlight = new Set<number>();
  private readonly consumers = new Map<string, Child<ConsumerMessage>>();
  /** Which consumer has which deliveries. */
  private readonly handedOut = new Map<string, Map<number, Delivery>>();
  private turn = 0;

  async addConsumer(settings: ProcessSettings): Promise<void> {
    const env = { [SETTINGS]: JSON.stringify(settings) };
    const child = new Child<ConsumerMessage>({ script: 'consumer.ts', env });
    await child.message();
    this.consumers.set(settings.name, child);
    this.handedOut.set(settings.name, new Map());
    void this.listen(settings.name, child);
  }

  /** Delivers one message as many times at once, to each consumer equally often. */
  deliver(key: string, times: number): void {
    for (let number = 0; number < times; number += 1) {
      this.hand({ number, key });
    }
  }

  /** Lets the work that stands still go on. */
  letGo(consumer: string): void {
    this.command(consumer, 'let go');
  }

  async kill(consumer: string): Promise<void> {
    await this.consumers.get(consumer)!.kill();
  }

  async close(): Promise<void> {
    const children = [...this.consumers.values()];
    this.consumers.clear();
    await Promise.all(children.map((child) => child.kill()));
  }

  private async listen(consumer: string, child: Child<ConsumerMessage>): Promise<void> {
    for (;;) {
      const message = await child.message().catch(() => undefined);
      if (!message) break;
      this.receive(consumer, message);
    }
    this.consumers.delete(consumer);
    this.handedOut.get(consumer)!.forEach((delivery) => this.hand(delivery));
  }

  private receive(consumer: string, message: ConsumerMessage): void {
    if (message.type === 'ready') return;
    if (message.type === 'held') {
      this.executions.push({ by: consumer, attempt: message.attempt });
      return;
    }
    const { delivery } = message;
    this.handedOut.get(consumer)!.delete(delivery.number);
    switch (message.type) {
      case 'acknowledged':
        this.values.set(delivery.number, message.value);
        return;
      case 'set aside':
        this.setAside.push(message.reason);
        return;
      case 'put off':
        if (message.code === 'IDEMPOTENCY_KEY_IN_USE') this.metInFlight.add(delivery.number);
        setTimeout(() => this.hand(delivery), message.after);
    }
  }

  private hand(delivery: Delivery): void {
    const names = [...this.consumers.keys()];
    // After the end of a test.
    if (names.length === 0) return;
    const consumer = names[this.turn++ % names.length]!;
    this.handedOut.get(consumer)!.set(delivery.number, delivery);
    this.command(consumer, { deliver: delivery });
  }

  private command(consumer: string, command: ConsumerCommand): void {
    // It may just have died; then others will get what it had.
    this.consumers.get(consumer)!.process.send(command, () => undefined);
  }
}
