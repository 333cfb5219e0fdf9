import { type EntityManager, QueryFailedError } from 'typeorm';
import { AmbientTransactionError } from '../errors/ambient-transaction.error.js';
import type { RecordedResponse } from '../engine/stored-response.js';
import type {
  ClaimedTransaction,
  CommitResult,
  LossListener,
  TransactionClaim,
} from '../store/transaction-store.interface.js';
import type { PooledTransaction } from './pooled-transaction.js';
import {
  isInFailedTransaction,
  isNotNullViolation,
  isTransient,
  isUniqueViolation,
} from './postgres-errors.js';
import type { KnownRecords } from './known-records.js';
import type { RecordTable } from './record-table.js';
import type { TransactionFate } from './transaction-fate.js';
import { recordAndCommit } from './transaction-statements.js';

/** The transaction of one attempt: it commits together with its record, or not at all. */
export class PostgresTransaction implements ClaimedTransaction {
  constructor(
    private readonly transaction: PooledTransaction,
    private readonly table: RecordTable,
    private readonly claim: TransactionClaim,
    private readonly fate: TransactionFate,
    private readonly known: KnownRecords,
  ) {}

  get manager(): EntityManager {
    return this.transaction.manager;
  }

  run<T>(work: () => T): T {
    return this.transaction.run(work);
  }

  leave<T>(work: () => T): T {
    return this.transaction.leave(work);
  }

  runNested<T>(work: () => Promise<T>): Promise<T> {
    return this.manager.transaction(() => work());
  }

  onLoss(listener: LossListener): void {
    this.transaction.onLoss(listener);
  }

  isTransient(error: unknown): boolean {
    return isTransient(error instanceof QueryFailedError ? error.driverError : error);
  }

  rollback(): Promise<void> {
    return this.transaction.rollback();
  }

  async commit(response: RecordedResponse): Promise<CommitResult> {
    const answer = await this.transaction.commit(recordAndCommit(this.table, this.claim, response));
    switch (answer.type) {
      case 'committed':
        this.known.remember(this.claim.id);
        return answer;
      case 'prevented':
        return {
          type: 'not-committed',
          transient: answer.error instanceof AmbientTransactionError,
          cause: answer.error,
        };
      case 'refused':
        return this.refused(answer.error);
      case 'unanswered': {
        const result = await this.fate.ask(answer.error, true);
        await this.transaction.concludeCommit(result.type === 'committed');
        return result;
      }
    }
  }

  /** The server rolled back, and said why. */
  private async refused(error: unknown): Promise<CommitResult> {
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
    const cause = isInFailedTransaction(error) ? (this.transaction.lastFailure ?? error) : error;
    return { type: 'not-committed', transient: isTransient(cause), cause };
  }

  private get ownerColumn(): string {
    return this.table.column.owner.replaceAll('"', '');
  }
}
