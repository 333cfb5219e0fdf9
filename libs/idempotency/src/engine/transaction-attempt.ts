import { IdempotencyNotCommittedError, IdempotencyOutcomeUnknownError } from '../errors/outcome.errors.js';
import type { AttemptOptions } from '../options/resolved-options.js';
import type { ClaimTarget } from '../store/claim.js';
import type { ClaimedTransaction, TransactionLoss } from '../store/transaction-store.interface.js';
import { Attempt, type EndedResponse } from './attempt.js';
import type { EngineLogger } from './engine-logger.js';
import { isFinalRefusal, type Outcome } from './outcome-policy.js';
import { answerFrom, refuse, SEND, type Verdict } from './verdict.js';

/** An attempt whose claim, effects and record are one transaction. */
export class TransactionAttempt extends Attempt {
  private loss: TransactionLoss | undefined;

  constructor(
    target: ClaimTarget,
    options: AttemptOptions,
    logger: EngineLogger,
    private readonly transaction: ClaimedTransaction,
    onOver: (attempt: Attempt) => void,
  ) {
    super(target, options, logger, 1, onOver);
    transaction.onLoss((loss) => this.transactionLost(loss));
  }

  protected override get manager(): unknown {
    return this.transaction.manager;
  }

  protected override enter<T>(work: () => T): T {
    return this.transaction.run(work);
  }

  /** The effects go before anything outside the handler can see the error; a final answer keeps the claim. */
  protected override async methodThrew(error: unknown): Promise<void> {
    if (!isFinalRefusal(error)) {
      return this.transaction.rollback();
    }
    try {
      await this.transaction.rollbackEffects();
    } catch {
      await this.transaction.rollback();
      this.loss ??= 'connection-lost';
    }
  }

  protected override async conclude(outcome: Outcome, response: EndedResponse): Promise<Verdict> {
    if (outcome === 'release') {
      await this.transaction.rollback();
      return SEND;
    }
    if (this.loss) {
      return refuse(this.notCommitted());
    }
    const result = await this.transaction.commit(this.recorded(outcome, response));
    switch (result.type) {
      case 'committed':
        return SEND;
      case 'lost-race':
        return result.record
          ? answerFrom(result.record, this.target.fingerprint, this.options.retryAfter)
          : refuse(this.notCommitted());
      case 'not-committed':
        this.logger.error(
          `The transaction of ${this.target.operation} was rolled back at its end, and its client got an error.`,
          result.cause,
        );
        return refuse(
          new IdempotencyNotCommittedError(
            result.transient ? this.options.retryAfter : undefined,
            result.cause,
          ),
        );
      case 'unknown':
        return refuse(new IdempotencyOutcomeUnknownError(this.options.retryAfter, result.cause));
    }
  }

  protected override async settleLate(): Promise<void> {
    // The transaction ended before the client was answered.
  }

  private transactionLost(loss: TransactionLoss): void {
    this.loss = loss;
    if (loss === 'timeout') {
      this.logger.error(
        `The transaction of ${this.target.operation} was open for longer than \`transactionTimeout\` ` +
          `(${this.options.transactionTimeout} ms) and was rolled back. Use mode 'lease' for a handler that takes so long.`,
      );
      this.lose(this.notCommitted());
    }
  }

  private notCommitted(): IdempotencyNotCommittedError {
    return new IdempotencyNotCommittedError(this.options.retryAfter);
  }
}
