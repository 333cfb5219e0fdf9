import type { QueryRunner } from 'typeorm';
import { BackOff } from '../engine/back-off.js';
import { Deadline, TimeLimitError, withTimeLimit } from '../engine/time-limit.js';
import type { LeaseHold } from '../store/lease-store.interface.js';
import { AmbientTransaction } from './ambient/ambient-transaction.js';
import { ambientNode, TransactionNode } from './ambient/transaction-node.js';
import { type Connection, type Connections, limited } from './connections.js';
import type { LeaseStatements } from './lease-statements.js';
import { isRefusedByServer } from './postgres-errors.js';

/** Thrown inside, to roll back what a process did that no longer holds its lease. */
const NOT_HELD = Symbol('not held');

/** One transaction of a handler in `lease` mode, which commits together with the note that its step is done. */
export class StepTransaction {
  constructor(
    private readonly connections: Connections,
    private readonly sql: LeaseStatements,
    private readonly ownRunner: () => QueryRunner,
  ) {}

  async run<T>(
    hold: LeaseHold,
    work: () => Promise<T>,
    stepsAfter: (result: T) => string,
  ): Promise<{ result: T; recorded: boolean }> {
    const connection = await this.connections.acquire(new Deadline(hold.timeLimit));
    const ambient = await this.begin(connection, hold);
    const node = new TransactionNode(ambient);
    let result: T;
    let steps: string;
    try {
      result = await ambientNode.run(node, work);
      await node.drain();
      if (node.isHeld) {
        throw new Error(
          'A transaction that was begun with createQueryRunner() was neither committed nor rolled back.',
        );
      }
      steps = stepsAfter(result);
      await this.recordSteps(connection, hold, steps);
    } catch (error) {
      ambient.end('was rolled back');
      await this.rollback(connection, hold);
      if (error === NOT_HELD) {
        return { result: result!, recorded: false };
      }
      throw error;
    }
    ambient.markCommitted();
    const recorded = await this.commit(connection, ambient, hold, steps);
    return { result, recorded };
  }

  private async begin(connection: Connection, { timeLimit }: LeaseHold): Promise<AmbientTransaction> {
    const { client } = connection;
    const settings = `SELECT current_setting('transaction_isolation') AS isolation, pg_backend_pid() AS backend`;
    try {
      await client.query(limited('BEGIN', timeLimit));
      const { rows } = await client.query(limited(settings, timeLimit));
      const { isolation, backend } = rows[0] as { isolation: string; backend: number };
      return new AmbientTransaction(client, this.connections.dataSource, isolation, backend, this.ownRunner);
    } catch (error) {
      connection.destroy(error);
      throw error;
    }
  }

  private async recordSteps({ client }: Connection, hold: LeaseHold, steps: string): Promise<void> {
    const { rowCount } = await client.query(
      limited(this.sql.recordSteps, hold.timeLimit, [hold.id, hold.owner, steps]),
    );
    if (rowCount !== 1) {
      throw NOT_HELD;
    }
  }

  private async rollback(connection: Connection, { timeLimit }: LeaseHold): Promise<void> {
    try {
      await withTimeLimit('Rolling a step back', timeLimit, connection.client.query('ROLLBACK'));
      connection.release();
    } catch (error) {
      connection.destroy(error);
    }
  }

  /** @returns false when the database cannot tell; @throws when it was rolled back */
  private async commit(
    connection: Connection,
    ambient: AmbientTransaction,
    hold: LeaseHold,
    steps: string,
  ): Promise<boolean> {
    try {
      const { command } = await connection.client.query(limited('COMMIT', hold.timeLimit));
      if (command !== 'COMMIT') {
        throw new StepRolledBack('The transaction of a step was rolled back.', {
          cause: ambient.lastFailure,
        });
      }
      connection.release();
      return true;
    } catch (error) {
      connection.destroy(error);
      if (isRefusedByServer(error) || error instanceof StepRolledBack) {
        ambient.end('was not committed');
        throw error;
      }
      return this.wasCommitted(hold, steps, error);
    }
  }

  /** After a COMMIT whose answer was lost: asks until the time limit is over. */
  private async wasCommitted(hold: LeaseHold, steps: string, cause: unknown): Promise<boolean> {
    const deadline = new Deadline(hold.timeLimit);
    const backOff = new BackOff(50, 1_000);
    for (;;) {
      try {
        const values = [hold.id, hold.owner];
        const { rows } = await this.connections.query(this.sql.stepsWhenOver, values, deadline.remaining);
        if ((rows[0] as { steps: string | null } | undefined)?.steps === steps) {
          return true;
        }
        throw new StepRolledBack('The transaction of a step was not committed.', { cause });
      } catch (error) {
        if (error instanceof StepRolledBack) {
          throw error;
        }
        if (error instanceof TimeLimitError) {
          return false;
        }
        await backOff.sleep();
      }
    }
  }
}

/** The work of the step is undone, for certain. */
class StepRolledBack extends Error {
  override readonly name = 'StepRolledBack';
}
