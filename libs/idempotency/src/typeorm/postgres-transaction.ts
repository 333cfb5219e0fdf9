import type { QueryResult } from 'pg';
import { type EntityManager, QueryFailedError } from 'typeorm';
import type { EngineLogger } from '../engine/engine-logger.js';
import type { RecordedResponse } from '../engine/stored-response.js';
import { withTimeLimit } from '../engine/time-limit.js';
import type {
  ClaimedTransaction,
  CommitResult,
  TransactionClaim,
  LossListener,
} from '../store/transaction-store.interface.js';
import { AmbientQueryRunner } from './ambient/ambient-query-runner.js';
import type { AmbientTransaction } from './ambient/ambient-transaction.js';
import { ambientNode, TransactionNode } from './ambient/transaction-node.js';
import { type Connection, limited } from './connections.js';
import {
  isIdleTimeout,
  isInFailedTransaction,
  isNotNullViolation,
  isRefusedByServer,
  isTransient,
  isUniqueViolation,
} from './postgres-errors.js';
import type { RecordTable } from './record-table.js';
import type { TransactionFate } from './transaction-fate.js';
import { recordAndCommit } from './transaction-statements.js';

/** How long a rollback waits for a statement that is under way before it closes the connection. */
const PATIENCE_OF_ROLLBACK = 250;

type SubscriberEvent = `${'Before' | 'After'}Transaction${'Commit' | 'Rollback'}`;

/** The transaction of one attempt, settled on the driver's client itself: TypeORM's own nesting is not asked. */
export class PostgresTransaction implements ClaimedTransaction {
  private readonly node: TransactionNode;
  private readonly runner: AmbientQueryRunner;
  private readonly timer: NodeJS.Timeout;
  private ended = false;
  private hasWork = false;
  private lossListener: LossListener | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly ambient: AmbientTransaction,
    private readonly table: RecordTable,
    private readonly claim: TransactionClaim,
    private readonly fate: TransactionFate,
    private readonly logger: EngineLogger,
  ) {
    this.node = new TransactionNode(ambient);
    this.runner = new AmbientQueryRunner(ambient.dataSource, this.node);
    this.timer = setTimeout(() => this.timeOut(), claim.transactionTimeout);
    this.timer.unref();
    connection.client.once('error', this.connectionLost);
  }

  get manager(): EntityManager {
    return this.runner.manager;
  }

  run<T>(work: () => T): T {
    this.hasWork = true;
    return ambientNode.run(this.node, work);
  }

  runNested<T>(work: () => Promise<T>): Promise<T> {
    return this.manager.transaction(() => work());
  }

  onLoss(listener: LossListener): void {
    this.lossListener = listener;
  }

  isTransient(error: unknown): boolean {
    return isTransient(error instanceof QueryFailedError ? error.driverError : error);
  }

  async rollback(): Promise<void> {
    if (this.takeEnd()) {
      await this.undo('was rolled back');
    }
  }

  async commit(response: RecordedResponse): Promise<CommitResult> {
    const fault = await this.prepareCommit();
    if (!this.takeEnd()) {
      return { type: 'not-committed', transient: true, cause: fault ?? this.ambient.refusal() };
    }
    if (fault) {
      await this.undo('could not be committed');
      return { type: 'not-committed', transient: false, cause: fault };
    }
    this.ambient.markCommitted();
    const result = await this.sendCommit(response);
    if (result.type !== 'committed') {
      this.ambient.end('was not committed');
    } else {
      await this.tellSubscribers('AfterTransactionCommit').catch((error: unknown) => {
        this.logger.error('A subscriber failed after the transaction of a request was committed.', error);
      });
    }
    return result;
  }

  /** @returns why the transaction must not be committed, if it must not */
  private async prepareCommit(): Promise<unknown> {
    try {
      await this.tellSubscribers('BeforeTransactionCommit');
    } catch (error) {
      return error;
    }
    await this.node.drain();
    return this.node.isHeld
      ? new Error(
          'The handler began a transaction with createQueryRunner() and neither committed nor rolled it back.',
        )
      : undefined;
  }

  private async sendCommit(response: RecordedResponse): Promise<CommitResult> {
    const { client } = this.connection;
    try {
      const message = limited(recordAndCommit(this.table, this.claim, response), this.claim.timeLimit);
      const results = (await client.query(message)) as unknown as QueryResult[];
      const command = results.at(-1)?.command;
      if (command !== 'COMMIT') {
        throw new Error(`COMMIT was answered with ${command}.`);
      }
      this.connection.release();
      return { type: 'committed' };
    } catch (error) {
      return isRefusedByServer(error) ? this.refused(error) : this.unanswered(error);
    }
  }

  /** The server rolled back, and said why. */
  private async refused(error: unknown): Promise<CommitResult> {
    await this.undo('could not be committed');
    if (isNotNullViolation(error) && (error as { column?: string }).column === this.ownerColumn) {
      const cause = new Error('SQL of the handler ended the transaction of its request, past all checks.', {
        cause: error,
      });
      return { type: 'unknown', cause };
    }
    // Another attempt may have won the record: the unique key is the arbiter, whatever the locks said.
    if (isUniqueViolation(error) || isTransient(error)) {
      return this.fate.ask(error, isTransient(error));
    }
    const cause = isInFailedTransaction(error) ? (this.ambient.lastFailure ?? error) : error;
    return { type: 'not-committed', transient: isTransient(cause), cause };
  }

  private unanswered(error: unknown): Promise<CommitResult> {
    this.connection.destroy(error);
    return this.fate.ask(error, true);
  }

  private async undo(reason: string): Promise<void> {
    const before =
      this.ambient.state === 'open' ? this.tellSubscribers('BeforeTransactionRollback') : undefined;
    await before?.catch(() => undefined);
    this.ambient.end(reason);
    try {
      await withTimeLimit('Waiting for a statement of the handler', PATIENCE_OF_ROLLBACK, this.node.drain());
      await this.connection.client.query(limited('ROLLBACK', this.claim.timeLimit));
      this.connection.release();
    } catch (error) {
      this.connection.destroy(error);
      await this.fate.endBackend(this.ambient.backend);
    }
    await this.tellSubscribers('AfterTransactionRollback').catch(() => undefined);
  }

  private timeOut(): void {
    if (this.takeEnd()) {
      this.ambient.end('was open for longer than `transactionTimeout` and was rolled back');
      this.lossListener?.('timeout', this.undo('timed out'));
    }
  }

  private readonly connectionLost = (error: unknown): void => {
    this.ambient.end('lost its connection and was rolled back');
    if (this.takeEnd()) {
      // The server's time-out and ours are equally long, and either may be first.
      this.lossListener?.(isIdleTimeout(error) ? 'timeout' : 'connection-lost', Promise.resolve());
    }
  };

  /** Of the ends of a transaction the first one counts. */
  private takeEnd(): boolean {
    const isFirst = !this.ended;
    this.ended = true;
    clearTimeout(this.timer);
    this.connection.client.removeListener('error', this.connectionLost);
    return isFirst;
  }

  /** Nobody is told of a transaction in which nobody has worked: it only records a refusal. */
  private async tellSubscribers(event: SubscriberEvent): Promise<void> {
    if (!this.hasWork) {
      return;
    }
    await this.run(() => this.runner.broadcaster.broadcast(event));
  }

  private get ownerColumn(): string {
    return this.table.column.owner.replaceAll('"', '');
  }
}
