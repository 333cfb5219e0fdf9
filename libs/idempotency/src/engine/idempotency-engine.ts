import { randomUUID } from 'node:crypto';
import { IdempotencyError } from '../errors/idempotency.error.js';
import { IdempotencyKeyInUseError } from '../errors/key.errors.js';
import { IdempotencyAttemptAbandonedError } from '../errors/outcome.errors.js';
import { IdempotencyShuttingDownError, IdempotencyStoreUnavailableError } from '../errors/service.errors.js';
import type { AttemptOptions } from '../options/resolved-options.js';
import type { ClaimTarget, ExistingRecord } from '../store/claim.js';
import type {
  ClaimedLease,
  LeaseClaim,
  LeaseHold,
  IdempotencyStore,
} from '../store/idempotency-store.interface.js';
import { keepTimeLimits } from '../store/keep-time-limits.js';
import { StoreUnreachableError } from '../store/store-unreachable.error.js';
import type { TransactionStore } from '../store/transaction-store.interface.js';
import { AbandonedAttempts } from './abandoned-attempts.js';
import { ANSWERED_ELSEWHERE, type Attempt } from './attempt.js';
import { BackOff } from './back-off.js';
import { Background } from './background.js';
import type { EngineLogger } from './engine-logger.js';
import { Deadline, withTimeLimit } from './time-limit.js';
import { LeaseAttempt } from './lease-attempt.js';
import { LeaseKeeper } from './lease-keeper.js';
import { promised } from './promised.js';
import { RenewalClock } from './renewal-clock.js';
import { Roster } from './roster.js';
import { TransactionAttempt } from './transaction-attempt.js';
import { UNPROTECTED_CLAIM, UNPROTECTED_STORE } from './unprotected.js';
import { type Answer, answerFrom, refuse } from './verdict.js';

/** What a request may do: execute under a claim, or be answered without executing. */
export type Admission = Claimed | Answer;

interface Claimed {
  readonly type: 'execute';
  readonly attempt: Attempt;
}

/** Milliseconds: a server notices only after its statement that nobody waits for it any more. */
const LONGEST_LATE_CLAIM = 60_000;

/** Lets exactly one of the requests with one key execute, and answers the others from its record. */
export class IdempotencyEngine {
  private readonly leases: IdempotencyStore;
  private readonly live = new Roster<Attempt>();
  /** Claims that were sent and not answered. */
  private claiming = 0;
  private readonly background = new Background();
  private readonly abandoned: AbandonedAttempts;
  private readonly clock = new RenewalClock();
  private closing = false;
  private idle: (() => void) | undefined;

  constructor(
    leases: IdempotencyStore,
    /** `undefined` where the store of leases is not in the application's database; nobody asks for transactions then. */
    private readonly transactions: TransactionStore | undefined,
    private readonly logger: EngineLogger,
  ) {
    this.leases = keepTimeLimits(leases);
    this.abandoned = new AbandonedAttempts(logger);
  }

  /**
   * Claims the record, or waits for the one who has it as long as `inFlight` says. A request that waits
   * holds nothing: it looks again, with growing pauses.
   *
   * @throws IdempotencyStoreUnavailableError when the store does not answer; nothing was executed
   * @throws IdempotencyShuttingDownError when the shutdown was faster than the claim
   */
  admit(target: ClaimTarget, options: AttemptOptions): Promise<Admission> {
    return options.waitInFlight > 0 ? this.admitPatiently(target, options) : this.tryToAdmit(target, options);
  }

  private async admitPatiently(target: ClaimTarget, options: AttemptOptions): Promise<Admission> {
    const deadline = new Deadline(options.waitInFlight);
    const backOff = new BackOff(50, 500);
    for (;;) {
      const admission = await this.tryToAdmit(target, options);
      const { left } = deadline;
      if (!isInUse(admission) || left <= 0) {
        return admission;
      }
      await backOff.sleep(left);
    }
  }

  /** One look, with as few promises as it can do with: where `AsyncLocalStorage` needs hooks, each of them costs. */
  private tryToAdmit(target: ClaimTarget, options: AttemptOptions): Promise<Admission> {
    if (this.closing) {
      return Promise.resolve(refuse(new IdempotencyShuttingDownError(options.retryAfter)));
    }
    const claim =
      options.mode === 'transaction'
        ? this.beginTransaction(target, options)
        : this.takeLease(target, options);
    this.claiming += 1;
    return claim.then(
      (outcome) => this.answerClaim(outcome, target, options),
      (cause: unknown) => {
        this.claimEnds();
        throw this.claimError(cause, target, options);
      },
    );
  }

  /**
   * Refuses new claims from now on; resolves when the attempts that run are over. Those that are not by then are given
   * up, as if the process had died: its connections could not be closed while their clients wait.
   *
   * @param patience milliseconds to wait for them at most
   */
  async close(patience: number): Promise<void> {
    this.closing = true;
    const finish = this.finish();
    await withTimeLimit('Finishing the requests that run', patience, finish).catch(async (cause: unknown) => {
      this.logger.warn(
        `${this.live.size} idempotent requests were still being executed at shutdown, and ${this.background.size} writes were ` +
          `still being tried, of outcomes or to take a claim back whose request was refused. They are given up.`,
        cause,
      );
      await Promise.all(this.live.all().map((attempt) => attempt.giveUp()));
    });
    this.background.stop();
    this.clock.stop();
  }

  private async finish(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.idle = resolve;
      this.tellIfIdle();
    });
    await this.background.idle();
  }

  private answerClaim(
    outcome: Claimed | ExistingRecord,
    target: ClaimTarget,
    options: AttemptOptions,
  ): Admission | Promise<never> {
    if (outcome.type !== 'execute') {
      this.claimEnds();
      return this.answerFromRecord(outcome, target, options);
    }
    if (this.closing) {
      return this.handBack(outcome.attempt, options).finally(() => this.claimEnds());
    }
    this.live.add(outcome.attempt);
    this.claimEnds();
    return outcome;
  }

  private answerFromRecord(
    record: ExistingRecord,
    target: ClaimTarget,
    { retryAfter }: AttemptOptions,
  ): Answer {
    const answer = answerFrom(record, target.fingerprint, retryAfter);
    if (record.type === 'abandoned' && isAbandoned(answer)) {
      this.abandoned.tell(target, record.owner);
    }
    return answer;
  }

  private claimError(cause: unknown, { operation }: ClaimTarget, { retryAfter }: AttemptOptions): unknown {
    if (cause instanceof IdempotencyError) {
      return cause;
    }
    this.logger.error(`The store could not claim a key of ${operation}; nothing was executed.`, cause);
    return new IdempotencyStoreUnavailableError(retryAfter, cause);
  }

  private claimEnds(): void {
    this.claiming -= 1;
    this.tellIfIdle();
  }

  /** A claim that was won while the shutdown began is given back: nothing was executed under it. */
  private async handBack(attempt: Attempt, { retryAfter }: AttemptOptions): Promise<never> {
    await attempt.settle(ANSWERED_ELSEWHERE);
    throw new IdempotencyShuttingDownError(retryAfter);
  }

  private async beginTransaction(
    target: ClaimTarget,
    options: AttemptOptions,
  ): Promise<Claimed | ExistingRecord> {
    const { ttl, isolation, transactionTimeout, storeTimeout: timeLimit } = options;
    const owner = randomUUID();
    const claim = { ...target, owner, ttl, isolation, transactionTimeout, timeLimit };
    // Options that ask for transactions where there are none do not get past the start-up.
    const transactions = this.transactions!;
    const result = await transactions.begin(claim);
    if (result.type !== 'claimed') {
      return result;
    }
    const attempt = new TransactionAttempt(
      claim,
      options,
      this.logger,
      transactions,
      result.transaction,
      this.forget,
    );
    return { type: 'execute', attempt };
  }

  private takeLease(target: ClaimTarget, options: AttemptOptions): Promise<Claimed | ExistingRecord> {
    const { ttl, lockTtl, storeTimeout: timeLimit } = options;
    const { id, scope, operation, key, fingerprint } = target;
    const claim: LeaseClaim = {
      id,
      scope,
      operation,
      key,
      fingerprint,
      owner: randomUUID(),
      timeLimit,
      ttl,
      lockTtl,
      takeOverAbandoned: options.onAbandoned === 'retry',
    };
    const sentAt = performance.now();
    return promised(() => this.leases.claim(claim)).then(
      (result) =>
        result.type === 'claimed' ? this.holdLease(target, options, claim, result, sentAt) : result,
      (cause: unknown) => {
        if (cause instanceof IdempotencyError) {
          throw cause;
        }
        this.undoClaim(claim, ttl, cause);
        if (options.onStoreError === 'refuse') {
          throw cause;
        }
        this.logger.warn(
          `The store could not claim a key of ${operation}, and \`onStoreError\` is 'execute': the request is executed ` +
            `without protection, so a retry may execute it again.`,
          cause,
        );
        return this.holdLease(target, options, claim, UNPROTECTED_CLAIM, sentAt, UNPROTECTED_STORE);
      },
    );
  }

  private holdLease(
    target: ClaimTarget,
    options: AttemptOptions,
    hold: LeaseHold,
    claimed: ClaimedLease,
    sentAt: number,
    store = this.leases,
  ): Claimed {
    const keeper = new LeaseKeeper(store, hold, options.lockTtl, this.logger, sentAt, this.clock);
    const lease = { store, hold, claimed, keeper, background: this.background };
    return { type: 'execute', attempt: new LeaseAttempt(target, options, this.logger, lease, this.forget) };
  }

  /**
   * The claim may have been committed and its answer lost, or be committed yet: a record of nobody would block the key.
   */
  private undoClaim(hold: LeaseHold, ttl: number, cause: unknown): void {
    if (!(cause instanceof StoreUnreachableError)) {
      const release = (): Promise<boolean> => this.leases.release(hold);
      this.background.keepTrying(release, new BackOff(100, 1_000), Math.min(ttl, LONGEST_LATE_CLAIM));
    }
  }

  private readonly forget = (attempt: Attempt): void => {
    this.live.remove(attempt);
    this.tellIfIdle();
  };

  private tellIfIdle(): void {
    if (this.live.size === 0 && this.claiming === 0) {
      this.idle?.();
    }
  }
}

function isInUse(answer: Admission): boolean {
  return answer.type === 'refuse' && answer.error instanceof IdempotencyKeyInUseError;
}

function isAbandoned(answer: Answer): boolean {
  return answer.type === 'refuse' && answer.error instanceof IdempotencyAttemptAbandonedError;
}
