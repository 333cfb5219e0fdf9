import type { IdempotencyError } from '../errors/idempotency.error.js';
import { IdempotencyNotCommittedError, IdempotencyOutcomeUnknownError } from '../errors/outcome.errors.js';
import type { AttemptOptions } from '../options/resolved-options.js';
import type {
  ClaimedTransaction,
  CommitResult,
  TransactionClaim,
  TransactionLoss,
  TransactionStore,
} from '../store/transaction-store.interface.js';
import { Attempt, type EndedResponse } from './attempt.js';
import { errorStatus } from './error-status.js';
import type { EngineLogger } from './engine-logger.js';
import type { Outcome } from './outcome-policy.js';
import { type StepRecorder, Steps } from './steps.js';
import type { RecordedResponse } from './stored-response.js';
import { answerFrom, refuse, SEND, type Verdict } from './verdict.js';

/** An attempt whose claim, effects and record are one transaction. */
export class TransactionAttempt extends Attempt {
  private loss: TransactionLoss | 'given-up' | undefined;
  private isUndone = false;

  constructor(
    private readonly claim: TransactionClaim,
    options: AttemptOptions,
    logger: EngineLogger,
    private readonly store: TransactionStore,
    private readonly transaction: ClaimedTransaction,
    onOver: (attempt: Attempt) => void,
  ) {
    super(claim, options, logger, 1, onOver);
    transaction.onLoss((loss, undone) => this.transactionLost(loss, undone));
  }

  protected override makeSteps(): Steps {
    return new Steps(this.stepRecorder(), null, this.options.maxResponseBytes);
  }

  protected override get manager(): unknown {
    return this.transaction.manager;
  }

  protected override enter<T>(work: () => T): T {
    return this.transaction.run(work);
  }

  protected override exit<T>(work: () => T): T {
    return this.transaction.leave(work);
  }

  protected override async disown(): Promise<IdempotencyError> {
    this.loss = 'given-up';
    await this.transaction.rollback();
    return this.notCommitted();
  }

  /**
   * The effects go before anything outside the handler can see the error, and the connection with them: a filter
   * that writes to the database would otherwise need a second one, and a full pool would stand still.
   */
  protected override async methodThrew(error: unknown): Promise<unknown> {
    this.isUndone = true;
    await this.transaction.rollback();
    const isOurs = this.loss !== undefined && errorStatus(error) >= 500;
    return isOurs || this.transaction.isTransient(error)
      ? new IdempotencyNotCommittedError(this.options.retryAfter, error)
      : error;
  }

  protected override async conclude(outcome: Outcome, response: EndedResponse): Promise<Verdict> {
    if (outcome === 'release') {
      if (this.isMethodRunning) {
        this.abort();
      }
      await this.transaction.rollback();
      return SEND;
    }
    const recorded = this.recorded(outcome, response);
    if (this.isUndone) {
      return this.recordRefusal(recorded);
    }
    if (this.loss) {
      return refuse(this.notCommitted());
    }
    const result = await this.transaction.commit(recorded);
    if (result.type === 'committed') {
      this.afterCommit.outcomeIsDurable();
    }
    return this.conclusionOf(result);
  }

  protected override async settleLate(): Promise<void> {
    // The transaction ended before the client was answered.
  }

  /**
   * A final answer without effects gets a transaction of its own. The key was free in between, so another request
   * may have it now, and then its answer counts: nothing of this one remains.
   */
  private async recordRefusal(recorded: RecordedResponse): Promise<Verdict> {
    try {
      const result = await this.store.begin(this.claim);
      return result.type === 'claimed'
        ? this.conclusionOf(await result.transaction.commit(recorded))
        : answerFrom(result, this.claim.fingerprint, this.options.retryAfter);
    } catch (cause) {
      return this.conclusionOf({ type: 'not-committed', transient: true, cause });
    }
  }

  private conclusionOf(result: CommitResult): Verdict {
    switch (result.type) {
      case 'committed':
        return SEND;
      case 'lost-race':
        return answerFrom(result.record, this.claim.fingerprint, this.options.retryAfter);
      case 'not-committed':
        this.logger.error(
          `The transaction of ${this.claim.operation} was rolled back at its end, and its client got an error.`,
          result.cause,
        );
        return refuse(
          new IdempotencyNotCommittedError(
            result.transient ? this.options.retryAfter : undefined,
            result.cause,
          ),
        );
      case 'unknown':
        this.logger.error(
          `It is not known whether the transaction of ${this.claim.operation} was committed; its client was told to retry.`,
          result.cause,
        );
        return refuse(new IdempotencyOutcomeUnknownError(this.options.retryAfter, result.cause));
    }
  }

  /** A crash rolls the whole transaction back, and the steps with it: nothing is recorded. */
  private stepRecorder(): StepRecorder {
    return {
      record: async () => undefined,
      recordWith: (work, stepsAfter) =>
        this.transaction.runNested(async () => {
          const result = await work();
          stepsAfter(result);
          return result;
        }),
    };
  }

  private transactionLost(loss: TransactionLoss, undone: Promise<void>): void {
    this.loss = loss;
    this.abort();
    if (loss === 'timeout') {
      this.logger.error(
        `The transaction of ${this.claim.operation} was open for longer than \`transactionTimeout\` ` +
          `(${this.options.transactionTimeout} ms) and was rolled back. Use mode 'lease' for a handler that takes so long.`,
      );
      void undone.then(() => this.lose(this.notCommitted()));
    }
  }

  private notCommitted(): IdempotencyNotCommittedError {
    return new IdempotencyNotCommittedError(this.options.retryAfter);
  }
}
