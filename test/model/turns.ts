import type fc from 'fast-check';
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises';

import type { StoreUnderTest } from './store-under-test.js';
import { conductor, type Statement } from './turn-taking-client.js';

/**
 * Lets operations run beside each other so that the scheduler alone decides what comes next: which statement is
 * sent, or which transaction is committed.
 */
export class Turns {
  /** By the process of the server. */
  private readonly underWay = new Map<number, Promise<unknown>>();
  private openTransactions = 0;
  private isOver = false;

  constructor(
    private readonly scheduler: fc.Scheduler,
    private readonly store: StoreUnderTest,
  ) {}

  /** Resolves when it is the turn of whoever asks. */
  async take(label: string): Promise<void> {
    await this.scheduler.schedule(Promise.resolve(), label);
  }

  /** @param lingers whether each write is a transaction of two turns: one for the statement, one for the commit */
  run<T>(label: string, lingers: boolean, work: () => Promise<T>): Promise<T> {
    return conductor.run(async (statement) => {
      await this.take(`${label}: ${statement.text.slice(0, 40)}`);
      return lingers && isWriteOfItsOwn(statement.text)
        ? this.linger(statement, () => this.take(`${label}: COMMIT`))
        : this.track(statement, statement.send());
    }, work);
  }

  /** Gives turns until all operations have ended. */
  async giveUntil(end: Promise<unknown>): Promise<void> {
    void end.finally(() => (this.isOver = true));
    while (!this.isOver) {
      await this.standstill();
      if (this.scheduler.count() > 0) await this.scheduler.waitNext(1);
    }
  }

  private async linger(statement: Statement, turn: () => Promise<void>): Promise<unknown> {
    const { send } = statement;
    this.openTransactions += 1;
    try {
      const answer = await this.track(
        statement,
        send('BEGIN').then(() => send()),
      );
      await turn();
      await this.track(statement, send('COMMIT'));
      return answer;
    } catch (error) {
      await this.track(statement, send('ROLLBACK'));
      throw error;
    } finally {
      this.openTransactions -= 1;
    }
  }

  private track<T>({ server }: Statement, answer: Promise<T>): Promise<T> {
    const end = (): void => void this.underWay.delete(server);
    this.underWay.set(server, answer.then(end, end));
    return answer;
  }

  /** Resolves when each statement has been answered, or waits for a transaction whose commit has not had its turn. */
  private async standstill(): Promise<void> {
    for (;;) {
      // What was answered may lead to another statement, which may wait one turn for others to join.
      await nextTurnOfTheLoop();
      await nextTurnOfTheLoop();
      const servers = [...this.underWay.keys()];
      if (servers.length === 0) return;
      if (this.openTransactions === 0) await Promise.all(this.underWay.values());
      else if ((await this.store.blocked(servers)).length === servers.length) return;
    }
  }
}

function isWriteOfItsOwn(sql: string): boolean {
  return /^(INSERT|UPDATE|DELETE|WITH)/.test(sql) && !sql.endsWith('COMMIT');
}
