import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { AmbientTransactionError } from '../../errors/ambient-transaction.error.js';
import { isInFailedTransaction } from '../postgres-errors.js';

/**
 * - `open`: database calls of the request join
 * - `committed`: set before COMMIT is sent; work that goes on after the answer gets connections of its own
 * - `ended`: rolled back, timed out or cut off; every call throws, or the rest of the handler would commit
 *   on its own, without a record
 */
export type AmbientState = 'open' | 'committed' | 'ended';

/** The one connection that all database calls of a request share. */
export class AmbientTransaction {
  private current: AmbientState = 'open';
  private reason = '';
  private savepoints = 0;
  private failure: unknown;
  private underWay = 0;
  private quietSince = performance.now();

  /**
   * @param isolation as the server names it
   * @param backend the server's process id
   * @param ownRunner makes a query runner that is not part of this transaction
   */
  constructor(
    private readonly client: PoolClient,
    readonly dataSource: DataSource,
    readonly isolation: string,
    readonly backend: number,
    readonly ownRunner: () => QueryRunner,
  ) {}

  get state(): AmbientState {
    return this.current;
  }

  /** The last error of a statement: where the handler swallowed it, it is why COMMIT rolls back. */
  get lastFailure(): unknown {
    return this.failure;
  }

  /** For how long, in milliseconds, no statement has been under way. */
  get quietFor(): number {
    return this.underWay > 0 ? 0 : performance.now() - this.quietSince;
  }

  async send(query: string | QueryConfig, values?: unknown[]): Promise<QueryResult> {
    this.underWay += 1;
    try {
      return await this.client.query(query as string, values);
    } catch (error) {
      // Statements after the one that failed are refused; what it said is the reason.
      if (!isInFailedTransaction(error)) {
        this.failure = error;
      }
      throw error;
    } finally {
      this.underWay -= 1;
      this.quietSince = performance.now();
    }
  }

  nextSavepoint(): string {
    this.savepoints += 1;
    return `exactly_once_${this.savepoints}`;
  }

  /** Later calls get connections of their own; those that were made before are still carried out. */
  markCommitted(): void {
    this.current = 'committed';
  }

  /** @param reason completes the sentence "The transaction of this request …" */
  end(reason: string): void {
    if (this.current !== 'ended') {
      this.current = 'ended';
      this.reason = reason;
    }
  }

  refusal(): AmbientTransactionError {
    return new AmbientTransactionError(
      `The transaction of this request ${this.reason}, so this database call was not made. ` +
        `A call on another connection would commit without the request's record.`,
    );
  }
}
