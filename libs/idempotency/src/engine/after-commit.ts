import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EngineLogger } from './engine-logger.js';

/** What an attempt does once its outcome is durable. Nobody waits for it but a shutdown. */
export class AfterCommit {
  private readonly work: (() => unknown)[] = [];
  private isDurable = false;
  private running: Promise<void> | undefined;
  private underWay = 0;

  constructor(
    private readonly operation: string,
    private readonly logger: EngineLogger,
  ) {}

  add(work: () => unknown): void {
    this.work.push(work);
    if (this.isDurable) {
      this.start();
    }
  }

  outcomeIsDurable(): void {
    this.isDurable = true;
    if (this.work.length > 0) {
      this.start();
    }
  }

  /** Whether nothing of it runs. */
  get isIdle(): boolean {
    return this.underWay === 0;
  }

  /** Resolves when all of it is done, and all that it has added. */
  async done(): Promise<void> {
    let seen: Promise<void> | undefined;
    while (seen !== this.running) {
      seen = this.running;
      await seen;
    }
  }

  private start(): void {
    this.underWay += 1;
    const before = this.running ?? Promise.resolve();
    this.running = before.then(() => this.runAll()).finally(() => (this.underWay -= 1));
  }

  private async runAll(): Promise<void> {
    // The response goes first.
    await nextTurn();
    for (const work of this.work.splice(0)) {
      try {
        await work();
      } catch (cause) {
        this.logger.error(
          `What ${this.operation} does after its commit has failed; the outcome stands.`,
          cause,
        );
      }
    }
  }
}
