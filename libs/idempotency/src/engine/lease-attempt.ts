import type { IdempotencyError } from '../errors/idempotency.error.js';
import { IdempotencyOutcomeUnknownError } from '../errors/outcome.errors.js';
import { IdempotencyLeaseLostError, IdempotencyStepError } from '../errors/step.errors.js';
import type { AttemptOptions } from '../options/resolved-options.js';
import type { ClaimTarget } from '../store/claim.js';
import type { ClaimedLease, LeaseHold, IdempotencyStore } from '../store/idempotency-store.interface.js';
import { ANSWERED_ELSEWHERE, Attempt, type EndedResponse } from './attempt.js';
import { BackOff } from './back-off.js';
import type { Background } from './background.js';
import type { EngineLogger } from './engine-logger.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { Outcome } from './outcome-policy.js';
import { promised } from './promised.js';
import { type StepRecorder, Steps } from './steps.js';
import { Deadline } from './time-limit.js';
import { answerFrom, refuse, SEND, type Verdict } from './verdict.js';

/** `written`: durable. `refused`: another owner has the record. `pending`: not known yet, and still being tried. */
type WriteResult = 'written' | 'refused' | 'pending';

/** What a lease attempt works with. */
export interface Lease {
  readonly store: IdempotencyStore;
  readonly hold: LeaseHold;
  readonly claimed: ClaimedLease;
  readonly keeper: LeaseKeeper;
  readonly background: Background;
}

/** An attempt under a claim that was committed before its handler started. */
export class LeaseAttempt extends Attempt {
  private isLost = false;

  constructor(
    target: ClaimTarget,
    options: AttemptOptions,
    logger: EngineLogger,
    private readonly lease: Lease,
    onOver: (attempt: Attempt) => void,
  ) {
    super(target, options, logger, lease.claimed.attempt, onOver);
    lease.keeper.onLost(() => this.abort());
  }

  protected override makeSteps(): Steps {
    return new Steps(this.stepRecorder(), this.lease.claimed.steps, this.options.maxResponseBytes);
  }

  protected override get manager(): undefined {
    return undefined;
  }

  protected override enter<T>(work: () => T): T {
    return work();
  }

  protected override exit<T>(work: () => T): T {
    return work();
  }

  /** What it did may count: the lease runs out, and `onAbandoned` decides. */
  protected override async disown(): Promise<IdempotencyError> {
    this.isLost = true;
    this.lease.keeper.stop();
    return new IdempotencyOutcomeUnknownError(this.options.retryAfter);
  }

  /** Nothing can be undone here: what the error means is decided with the response. */
  protected override async methodThrew(error: unknown): Promise<unknown> {
    return error;
  }

  /** Until the method settles nobody knows what it did, so the lease is kept although the client has its answer. */
  protected override async settleLate(): Promise<void> {
    await this.conclude(this.decide(ANSWERED_ELSEWHERE), ANSWERED_ELSEWHERE);
  }

  protected override conclude(outcome: Outcome, response: EndedResponse): Promise<Verdict> {
    if (this.isMethodRunning) {
      return Promise.resolve(SEND);
    }
    if (this.isLost) {
      this.lease.keeper.stop();
      return this.answerOfNewOwner();
    }
    const { store, hold } = this.lease;
    if (outcome === 'release') {
      return this.write(() => promised(() => store.release(hold)).then(() => true)).then(() => SEND);
    }
    const recorded = this.recorded(outcome, response);
    return this.write(
      () => store.complete(hold, recorded, this.options.ttl),
      () => this.afterCommit.outcomeIsDurable(),
    ).then((result) => this.verdictOf(result));
  }

  private verdictOf(result: WriteResult): Verdict | Promise<Verdict> {
    switch (result) {
      case 'written':
        return SEND;
      case 'refused':
        return this.answerOfNewOwner();
      case 'pending':
        // The effect is real, and a false error makes people pay twice; but once the lease may be gone,
        // another attempt may have recorded another answer.
        return this.lease.keeper.isSurelyHeld
          ? SEND
          : refuse(new IdempotencyOutcomeUnknownError(this.options.retryAfter));
    }
  }

  /**
   * Writes the end of the attempt: for `storeTimeout`, and after that in the background.
   *
   * @param onWritten called once it is durable, which may be later
   */
  private write(operation: () => Promise<boolean>, onWritten?: () => void): Promise<WriteResult> {
    return this.tryFor(operation).then((result) => {
      if (result === 'pending') {
        this.writeInBackground(operation, onWritten);
      } else {
        this.lease.keeper.stop();
      }
      if (result === 'written') {
        onWritten?.();
      }
      return result;
    });
  }

  /** Tries for `storeTimeout`, with the lease being renewed. */
  private tryFor(operation: () => Promise<boolean>): Promise<WriteResult> {
    const deadline = new Deadline(this.options.storeTimeout);
    return promised(operation).then(resultOf, (cause: unknown) => {
      this.tellNotRecorded(cause);
      return this.tryAgain(operation, deadline);
    });
  }

  private async tryAgain(operation: () => Promise<boolean>, deadline: Deadline): Promise<WriteResult> {
    const backOff = new BackOff(50, 1_000);
    while (deadline.left > 0) {
      await backOff.sleep(deadline.left);
      try {
        return resultOf(await operation());
      } catch (cause) {
        this.tellNotRecorded(cause);
      }
    }
    return 'pending';
  }

  private stepRecorder(): StepRecorder {
    const leaseLost = (): IdempotencyLeaseLostError => {
      // Nothing that comes after an unrecorded step may be recorded: a retry must find the attempt where it stopped.
      this.isLost = true;
      this.abort();
      return new IdempotencyLeaseLostError(this.options.retryAfter);
    };
    return {
      record: async (steps) => {
        if ((await this.tryFor(() => this.lease.store.recordSteps(this.lease.hold, steps))) !== 'written') {
          throw leaseLost();
        }
      },
      recordWith: async (work, stepsAfter) => {
        const { store } = this.lease;
        if (!store.recordStepsWith) {
          throw new IdempotencyStepError(
            'transactionalStep() needs records that are in the same database as the work, and the configured store ' +
              'keeps them elsewhere. Use step(), and make its work repeatable: by the key that it gets, say.',
          );
        }
        const { result, recorded } = await store.recordStepsWith(this.lease.hold, {
          work,
          stepsAfter,
          transactionTimeout: this.options.transactionTimeout,
        });
        if (!recorded) {
          throw leaseLost();
        }
        return result;
      },
    };
  }

  private writeInBackground(operation: () => Promise<boolean>, onWritten?: () => void): void {
    const isDone = async (): Promise<boolean> => {
      try {
        if (await operation()) {
          onWritten?.();
        }
        return true;
      } catch (cause) {
        this.tellNotRecorded(cause);
        return false;
      }
    };
    this.lease.background.keepTrying(isDone, new BackOff(1_000, 30_000), this.options.ttl, () => {
      this.lease.keeper.stop();
      return this.afterCommit.done();
    });
  }

  private tellNotRecorded(cause: unknown): void {
    this.logger.warn(
      `The outcome of ${this.target.operation} could not be recorded; this is tried again.`,
      cause,
    );
  }

  /** This process lost its lease and finished late: its client gets what was recorded, never what was not. */
  private async answerOfNewOwner(): Promise<Verdict> {
    this.logger.warn(
      `An attempt of ${this.target.operation} finished without its lease, or without a record of one of its steps; its ` +
        `result is discarded.`,
    );
    const record = await this.lease.store
      .find(this.target.id, this.options.storeTimeout)
      .catch(() => undefined);
    return record?.type === 'completed'
      ? answerFrom(record, this.target.fingerprint, this.options.retryAfter)
      : refuse(new IdempotencyOutcomeUnknownError(this.options.retryAfter));
  }
}

function resultOf(isWritten: boolean): WriteResult {
  return isWritten ? 'written' : 'refused';
}
