import type { QueryResult } from 'pg';
import type { QueryRunner } from 'typeorm';
import { BackOff } from '../engine/back-off.js';
import type { EngineLogger } from '../engine/engine-logger.js';
import { Deadline } from '../engine/time-limit.js';
import type { LeaseHold, StepWork } from '../store/idempotency-store.interface.js';
import { AmbientTransaction } from './ambient/ambient-transaction.js';
import { type Connection, type Connections, limited } from './connections.js';
import type { LeaseStatements } from './lease-statements.js';
import { PooledTransaction, type TransactionLimits } from './pooled-transaction.js';
import { isDivisionByZero, isInFailedTransaction } from './postgres-errors.js';
import type { RecordTable } from './record-table.js';
import { beginStep, recordStepsAndCommit, type TransactionSettings } from './transaction-statements.js';

/** One transaction of a handler in `lease` mode, which commits together with the note that its step is done. */
export class StepTransaction {
  constructor(
    private readonly connections: Connections,
    private readonly table: RecordTable,
    private readonly sql: LeaseStatements,
    private readonly ownRunner: () => QueryRunner,
    private readonly logger: EngineLogger,
  ) {}

  async run<T>(hold: LeaseHold, step: StepWork<T>): Promise<{ result: T; recorded: boolean }> {
    const { transactionTimeout } = step;
    const transaction = await this.begin({ transactionTimeout, timeLimit: hold.timeLimit });
    let result: T;
    let steps: string;
    try {
      result = await transaction.run(step.work);
      steps = step.stepsAfter(result);
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
    return { result, recorded: await this.commit(transaction, hold, steps) };
  }

  private async begin(limits: TransactionLimits): Promise<PooledTransaction> {
    const deadline = new Deadline(limits.timeLimit);
    const connection = await this.connections.acquire(deadline);
    try {
      const message = limited(beginStep(limits.transactionTimeout), deadline.remaining);
      const results = (await connection.client.query(message)) as unknown as QueryResult[];
      return this.open(connection, results[1]!.rows[0] as TransactionSettings, limits);
    } catch (error) {
      connection.destroy(error);
      throw error;
    }
  }

  private open(
    connection: Connection,
    { isolation, backend }: TransactionSettings,
    limits: TransactionLimits,
  ): PooledTransaction {
    const { client } = connection;
    const { dataSource } = this.connections;
    const ambient = new AmbientTransaction(client, dataSource, isolation, backend, this.ownRunner);
    // Its locks are the work's own: the server finds out by itself that nobody waits for it any more.
    return new PooledTransaction(connection, ambient, limits, async () => undefined, this.logger);
  }

  /** @returns false where the lease is lost, or the database cannot tell; @throws when it was rolled back */
  private async commit(transaction: PooledTransaction, hold: LeaseHold, steps: string): Promise<boolean> {
    const answer = await transaction.commit(recordStepsAndCommit(this.table, hold, steps));
    switch (answer.type) {
      case 'committed':
        return true;
      case 'unanswered': {
        const committed = await this.wasCommitted(hold, steps);
        await transaction.concludeCommit(committed === true);
        if (committed === false) {
          throw answer.error;
        }
        return committed === true;
      }
      default:
        if (isDivisionByZero(answer.error)) {
          return false;
        }
        throw isInFailedTransaction(answer.error) ? transaction.lastFailure : answer.error;
    }
  }

  /** After a COMMIT whose answer was lost: asks until the time limit is over. @returns undefined where it stays open */
  private async wasCommitted(hold: LeaseHold, steps: string): Promise<boolean | undefined> {
    const deadline = new Deadline(hold.timeLimit);
    const backOff = new BackOff(50, 1_000);
    for (;;) {
      try {
        const values = [hold.id, hold.owner];
        const { rows } = await this.connections.query(this.sql.stepsWhenOver, values, deadline.remaining);
        return (rows[0] as { steps: string | null } | undefined)?.steps === steps;
      } catch {
        if (deadline.left <= 0) {
          return undefined;
        }
        await backOff.sleep();
      }
    }
  }
}
