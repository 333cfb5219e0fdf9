import type { QueryConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { TransactionNotStartedError } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { AmbientTransactionError } from '../../errors/ambient-transaction.error.js';
import { refuseHigherIsolation, refuseTransactionControl, undoSavepoint } from './transaction-control.js';
import { ambientNode, type TransactionNode } from './transaction-node.js';

/** Shared, so that all runners are objects of one shape. */
const IS_CLOSED: PropertyDescriptor & ThisType<{ node: TransactionNode }> = {
  get() {
    return this.node.isClosed;
  },
};

/**
 * A query runner on the request's connection. It has a transaction depth of its own, so that ending what it
 * did not begin cannot end the request's transaction.
 */
export class AmbientQueryRunner extends PostgresQueryRunner {
  private readonly savepoints: string[] = [];
  private begunOn: TransactionNode | undefined;

  constructor(
    dataSource: DataSource,
    private readonly node: TransactionNode,
  ) {
    super(dataSource.driver as PostgresDriver, 'master');
    // `save()` and `remove()` would otherwise wrap each call in a savepoint, at two round trips each.
    this.isTransactionActive = true;
    // TypeORM keeps the runner that loaded an entity for its lazy relations, and takes another once it is released.
    Object.defineProperty(this, 'isReleased', IS_CLOSED);
    Object.assign(this, { manager: dataSource.createEntityManager(this) });
  }

  /**
   * A runner that was made outside a `transaction()` callback and is used inside it takes part in it: its
   * own node is busy until the callback ends, and would never get to a call that the callback waits for.
   */
  target(): TransactionNode {
    const current = ambientNode.getStore();
    return current?.isOpen && current.isWithin(this.node) ? current : this.node;
  }

  override connect(): Promise<unknown> {
    return Promise.resolve({
      query: (text: string | QueryConfig, values?: unknown[]) => this.send(text, values),
    });
  }

  override async query<T = any>(
    query: string,
    parameters?: any[],
    useStructuredResult?: boolean,
  ): Promise<T> {
    const { transaction, parent } = this.node;
    if (transaction.state !== 'committed' || parent || this.target().isOpen) {
      return super.query(query, parameters, useStructuredResult as true) as Promise<T>;
    }
    const own = transaction.ownRunner();
    try {
      return (await own.query(query, parameters, useStructuredResult as true)) as T;
    } finally {
      await own.release();
    }
  }

  override async startTransaction(isolationLevel?: string): Promise<void> {
    const node = this.target();
    refuseHigherIsolation(isolationLevel, node.transaction.isolation);
    await node.execute(this, async () => {
      const savepoint = node.transaction.nextSavepoint();
      await node.transaction.send(`SAVEPOINT ${savepoint}`);
      node.hold(this);
      this.begunOn = node;
      this.savepoints.push(savepoint);
    });
    this.transactionDepth += 1;
  }

  override async commitTransaction(): Promise<void> {
    await this.endSavepoint(
      (savepoint) => `RELEASE SAVEPOINT ${savepoint}`,
      () => {
        throw new TransactionNotStartedError();
      },
    );
  }

  override async rollbackTransaction(): Promise<void> {
    await this.endSavepoint(undoSavepoint, () => undefined);
  }

  /** The connection is the request's, and is given back when the request is over. */
  override async release(): Promise<void> {}

  override stream(): Promise<never> {
    return Promise.reject(
      new AmbientTransactionError(
        'stream() inside an idempotent request would hang at the next query, since all of its calls share one ' +
          "connection. Read in pages, or use mode 'lease' for this handler.",
      ),
    );
  }

  private async endSavepoint(sql: (savepoint: string) => string, whenNotBegun: () => void): Promise<void> {
    const node = this.begunOn;
    const savepoint = this.savepoints.at(-1);
    if (!node || savepoint === undefined) {
      return whenNotBegun();
    }
    await node.execute(this, () => node.transaction.send(sql(savepoint)));
    this.transactionDepth -= 1;
    this.savepoints.pop();
    if (this.savepoints.length === 0) {
      this.begunOn = undefined;
      node.unhold();
    }
  }

  /** @param query a query object, too, for code that uses the driver's own client */
  private async send(query: string | QueryConfig, values?: unknown[]): Promise<unknown> {
    if (typeof query === 'object' && 'submit' in query) {
      throw new AmbientTransactionError(
        'A query that the driver works off by itself, such as a COPY or a cursor, cannot take turns with the other ' +
          "calls of an idempotent request. Use mode 'lease' for this handler.",
      );
    }
    refuseTransactionControl(typeof query === 'string' ? query : query.text);
    const node = this.target();
    return node.execute(this, () => node.transaction.send(query, values));
  }
}
