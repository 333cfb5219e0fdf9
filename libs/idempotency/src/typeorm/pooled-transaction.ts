import type { QueryResult } from 'pg';
import type { EntityManager } from 'typeorm';
import type { EngineLogger } from '../engine/engine-logger.js';
import { withTimeLimit } from '../engine/time-limit.js';
import type { LossListener } from '../store/transaction-store.interface.js';
import { AmbientQueryRunner } from './ambient/ambient-query-runner.js';
import type { AmbientTransaction } from './ambient/ambient-transaction.js';
import { ambientNode, TransactionNode } from './ambient/transaction-node.js';
import { type Connection, limited } from './connections.js';
import { isIdleTimeout, isRefusedByServer } from './postgres-errors.js';

/** How long a rollback waits for a statement that is under way before it closes the connection. */
const PATIENCE_OF_ROLLBACK = 250;

type SubscriberEvent = `${'Before' | 'After'}Transaction${'Commit' | 'Rollback'}`;

export interface TransactionLimits {
  /** Milliseconds that the transaction may stay open. */
  readonly transactionTimeout: number;
  /** Milliseconds for each of our own statements. */
  readonly timeLimit: number;
}

/**
 * - `prevented`: nothing was sent, and the transaction is rolled back
 * - `refused`: the server rolled back, and said why
 * - `unanswered`: only another connection can tell; whoever does must call `concludeCommit()`
 */
export type CommitAnswer =
  | { readonly type: 'committed' }
  | { readonly type: 'prevented' | 'refused' | 'unanswered'; readonly error: unknown };

/** A transaction on one connection of the pool, which everything that runs inside it joins. */
export class PooledTransaction {
  private readonly node: TransactionNode;
  private madeRunner: AmbientQueryRunner | undefined;
  private readonly timer: NodeJS.Timeout;
  private ended = false;
  private hasWork = false;
  private lossListener: LossListener | undefined;

  /** @param endBackend ends a server process that holds on to the transaction of a closed connection */
  constructor(
    private readonly connection: Connection,
    private readonly ambient: AmbientTransaction,
    private readonly limits: TransactionLimits,
    private readonly endBackend: (backend: number) => Promise<void>,
    private readonly logger: EngineLogger,
  ) {
    this.node = new TransactionNode(ambient);
    this.timer = setTimeout(() => this.timeOut(), limits.transactionTimeout);
    this.timer.unref();
    connection.client.once('error', this.connectionLost);
  }

  get manager(): EntityManager {
    return this.runner.manager;
  }

  private get runner(): AmbientQueryRunner {
    this.madeRunner ??= new AmbientQueryRunner(this.ambient.dataSource, this.node);
    return this.madeRunner;
  }

  /** The statement that failed last, if one has. */
  get lastFailure(): unknown {
    return this.ambient.lastFailure;
  }

  run<T>(work: () => T): T {
    this.hasWork = true;
    return ambientNode.run(this.node, work);
  }

  leave<T>(work: () => T): T {
    return ambientNode.run(undefined, work);
  }

  onLoss(listener: LossListener): void {
    this.lossListener = listener;
  }

  async rollback(): Promise<void> {
    if (this.takeEnd()) {
      await this.undo('was rolled back');
    }
  }

  /**
   * Settles on the driver's client itself: TypeORM's own nesting is not asked.
   *
   * @param message ends with COMMIT
   */
  async commit(message: string): Promise<CommitAnswer> {
    const fault = await this.prepareCommit();
    if (!this.takeEnd()) {
      return { type: 'prevented', error: fault ?? this.ambient.refusal() };
    }
    if (fault) {
      await this.undo('could not be committed');
      return { type: 'prevented', error: fault };
    }
    this.ambient.markCommitted();
    const answer = await this.send(message);
    if (answer.type !== 'unanswered') {
      await this.concludeCommit(answer.type === 'committed');
    }
    return answer;
  }

  async concludeCommit(isCommitted: boolean): Promise<void> {
    if (!isCommitted) {
      this.ambient.end('was not committed');
      return;
    }
    await this.tellSubscribers('AfterTransactionCommit').catch((error: unknown) => {
      this.logger.error('A subscriber failed after the transaction of a request was committed.', error);
    });
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

  private async send(message: string): Promise<CommitAnswer> {
    const { client } = this.connection;
    try {
      const results = (await client.query(
        limited(message, this.limits.timeLimit),
      )) as unknown as QueryResult[];
      const command = results.at(-1)?.command;
      if (command !== 'COMMIT') {
        throw new Error(`COMMIT was answered with ${command}.`);
      }
      this.connection.release();
      return { type: 'committed' };
    } catch (error) {
      if (isRefusedByServer(error)) {
        await this.undo('could not be committed');
        return { type: 'refused', error };
      }
      this.connection.destroy(error);
      return { type: 'unanswered', error };
    }
  }

  private async undo(reason: string): Promise<void> {
    const before =
      this.ambient.state === 'open' ? this.tellSubscribers('BeforeTransactionRollback') : undefined;
    await before?.catch(() => undefined);
    this.ambient.end(reason);
    try {
      await withTimeLimit('Waiting for a statement of the handler', PATIENCE_OF_ROLLBACK, this.node.drain());
      await this.connection.client.query(limited('ROLLBACK', this.limits.timeLimit));
      this.connection.release();
    } catch (error) {
      this.connection.destroy(error);
      await this.endBackend(this.ambient.backend);
    }
    await this.tellSubscribers('AfterTransactionRollback').catch(() => undefined);
  }

  private timeOut(): void {
    if (this.takeEnd()) {
      this.ambient.end('was open for longer than `transactionTimeout` and was rolled back');
      const undone = this.undo('timed out');
      this.lossListener?.('timeout', undone);
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
    if (this.hasWork && this.ambient.dataSource.subscribers.length > 0) {
      await this.run(() => this.runner.broadcaster.broadcast(event));
    }
  }
}
