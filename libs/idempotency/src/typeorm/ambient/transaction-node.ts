import { AsyncLocalStorage } from 'node:async_hooks';
import { AmbientTransactionError } from '../../errors/ambient-transaction.error.js';
import type { AmbientTransaction } from './ambient-transaction.js';
import { Turn } from './turn.js';
import { undoSavepoint } from './transaction-control.js';

/** The node that the running code belongs to: the request's own, or the one of a `transaction()` callback. */
export const ambientNode = new AsyncLocalStorage<TransactionNode | undefined>();

/**
 * A place in the tree of nested transactions: the root is the request, each `transaction()` callback is a
 * child. Statements and children of one node take turns. With plain savepoints on one connection, two
 * callbacks that run beside each other would be nested by accident, and the rollback of one would silently
 * take the other's rows with it.
 */
export class TransactionNode {
  private turn: Promise<unknown> = Promise.resolve();
  private closed = false;
  private holder: object | undefined;
  private childrenAhead = 0;

  constructor(
    readonly transaction: AmbientTransaction,
    readonly parent?: TransactionNode,
  ) {}

  /** Whether a query runner has begun a transaction here and not ended it. */
  get isHeld(): boolean {
    return this.holder !== undefined;
  }

  /** Whether the callback of this node is over. */
  get isClosed(): boolean {
    return this.closed;
  }

  /** Whether calls that are made now are part of the transaction. */
  get isOpen(): boolean {
    const { state } = this.transaction;
    return !this.closed && (state === 'open' || (state === 'committed' && this.parent !== undefined));
  }

  isWithin(node: TransactionNode): boolean {
    return this === node || (this.parent?.isWithin(node) ?? false);
  }

  /** Runs statements when it is their turn, unless a transaction that `caller` did not begin is open here. */
  execute<T>(caller: object, work: () => Promise<T>): Promise<T> {
    if (!this.isOpen) {
      return Promise.reject(this.refusal());
    }
    const turn = new Turn(() => this.take(caller, work));
    const result = this.enqueue(() => turn.take());
    return this.childrenAhead > 0 ? turn.orStuck(this.transaction, result) : result;
  }

  /** Marks the transaction of a query runner as open here; its other calls are refused until `unhold()`. */
  hold(caller: object): void {
    this.holder = caller;
  }

  unhold(): void {
    this.holder = undefined;
  }

  /**
   * Runs a `transaction()` callback between a savepoint and its release, or its rollback. It has the node to
   * itself: what runs beside it waits until it is over.
   */
  runChild<T>(caller: object, work: (child: TransactionNode) => Promise<T>): Promise<T> {
    const outcome = this.execute(caller, async () => {
      const savepoint = this.transaction.nextSavepoint();
      const child = new TransactionNode(this.transaction, this);
      await this.transaction.send(`SAVEPOINT ${savepoint}`);
      try {
        const result = await ambientNode.run(child, () => work(child));
        await child.close();
        await this.transaction.send(`RELEASE SAVEPOINT ${savepoint}`);
        return result;
      } catch (error) {
        await this.undoChild(child, savepoint);
        throw error;
      }
    });
    this.childrenAhead += 1;
    return outcome.finally(() => {
      this.childrenAhead -= 1;
    });
  }

  /** Resolves when all that was called before is done. */
  async drain(): Promise<void> {
    let last: unknown;
    while (last !== this.turn) {
      last = this.turn;
      await last;
    }
  }

  private async close(): Promise<void> {
    await this.drain();
    this.closed = true;
    if (this.holder) {
      throw new AmbientTransactionError(
        'A transaction that was begun with createQueryRunner() was neither committed nor rolled back.',
      );
    }
  }

  private async undoChild(child: TransactionNode, savepoint: string): Promise<void> {
    await child.close().catch(() => undefined);
    if (this.transaction.state !== 'ended') {
      // When this fails, so does COMMIT: the caller's error is the one to report.
      await this.transaction.send(undoSavepoint(savepoint)).catch(() => undefined);
    }
  }

  private take<T>(caller: object, work: () => Promise<T>): Promise<T> {
    if (this.transaction.state === 'ended') {
      throw this.refusal();
    }
    if (this.holder && this.holder !== caller) {
      throw new AmbientTransactionError(
        'A transaction that was begun with createQueryRunner() is open in this request, and another call used ' +
          'the same connection. Use the manager of that query runner for all calls until it is committed, or ' +
          'dataSource.transaction() in its place.',
      );
    }
    return work();
  }

  private enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.turn.then(task);
    this.turn = result.catch(() => undefined);
    return result;
  }

  private refusal(): AmbientTransactionError {
    return this.transaction.state === 'ended'
      ? this.transaction.refusal()
      : new AmbientTransactionError(
          'This database call belongs to a transaction that is over. Use an injected repository, or a new query runner.',
        );
  }
}
