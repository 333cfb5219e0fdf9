import type { AttemptOptions } from '../options/resolved-options.js';
import type { ClaimTarget } from '../store/claim.js';
import { AfterCommit } from './after-commit.js';
import { attemptScope } from './attempt-scope.js';
import type { EngineLogger } from './engine-logger.js';
import { hashParts } from './hashing.js';
import type { IdempotentContext } from './idempotent-context.js';
import { decideOutcome, type MethodEnd, type Outcome, type ResponseEnd } from './outcome-policy.js';
import type { Rostered } from './roster.js';
import type { Steps } from './steps.js';
import type { RecordedResponse, StoredResponse } from './stored-response.js';
import type { Verdict } from './verdict.js';
import type { IdempotencyError } from '../errors/idempotency.error.js';

/** How a response ended, with its content where that is known as a whole. */
export interface EndedResponse extends ResponseEnd {
  readonly content: StoredResponse | undefined;
}

/** Of an attempt whose client somebody else has answered, or is to answer. */
export const ANSWERED_ELSEWHERE: EndedResponse = { type: 'by-outsider', status: 0, content: undefined };

/** What an attempt tells the one who carries its response. */
export interface AttemptListener {
  /** The handler's method has returned or thrown. */
  methodSettled(method: MethodEnd): void;
  /** The attempt is over although the method still runs; `error` is what the client should get at once. */
  lost(error: IdempotencyError): void;
}

/** One execution of an intent under a claim: from the claim to the settled outcome. */
export abstract class Attempt implements Rostered {
  place = -1;
  private methodEnd: MethodEnd = { type: 'not-begun' };
  private running = false;
  private over = false;
  private released = false;
  private handlerContext: IdempotentContext | undefined;
  private madeSteps: Steps | undefined;
  private aborter: AbortController | undefined;
  private isAborted = false;
  protected readonly afterCommit: AfterCommit;
  protected listener: AttemptListener | undefined;

  /** @param onOver called once, when nothing of this attempt is left to do */
  constructor(
    readonly target: ClaimTarget,
    protected readonly options: AttemptOptions,
    protected readonly logger: EngineLogger,
    private readonly attemptNumber: number,
    private readonly onOver: (attempt: Attempt) => void,
  ) {
    this.afterCommit = new AfterCommit(target.operation, logger);
  }

  get context(): IdempotentContext {
    this.handlerContext ??= this.makeContext();
    return this.handlerContext;
  }

  /** Milliseconds that a response may stand still after its client has gone and its handler has settled. */
  get patience(): number {
    return this.options.mode === 'lease' ? this.options.lockTtl : this.options.transactionTimeout;
  }

  get isMethodRunning(): boolean {
    return this.running;
  }

  /** Whether a call of the method is one of this attempt: the first, or one that repeats a call that threw. */
  get isMethodDue(): boolean {
    return !this.running && this.methodEnd.type !== 'returned';
  }

  /** Whether the method can be called again under the same claim, as `retry` interceptors do. */
  get isRepeatable(): boolean {
    return this.options.mode === 'lease' && !this.over && !this.running;
  }

  listen(listener: AttemptListener): void {
    this.listener = listener;
  }

  /**
   * Runs `work`, and all that it starts, inside this attempt.
   *
   * @param subject identifies the method that the attempt is meant for
   */
  run<T>(subject: unknown, work: () => T): T {
    return attemptScope.run({ attempt: this, inMethod: false, subject }, () => this.enter(work));
  }

  /** Runs `work` outside of this attempt, although it is called from inside. */
  leave<T>(work: () => T): T {
    return attemptScope.run(undefined, () => this.exit(work));
  }

  /**
   * Runs the handler's own method. The attempt follows what it returns and no interceptor's promise: a time-out
   * around the method may have answered long before it ends.
   *
   * @returns a promise only where the method does, or fails
   */
  execute<T>(method: () => T | Promise<T>): T | Promise<T> {
    if (this.over) {
      throw new Error('The request was answered before its handler began, so the handler is not run.');
    }
    this.running = true;
    this.madeSteps?.methodBegins();
    let value: T | Promise<T>;
    try {
      value = attemptScope.run({ attempt: this, inMethod: true, subject: undefined }, method);
    } catch (error) {
      return this.methodFails(error);
    }
    return value instanceof Promise
      ? value.then(
          (settled: T) => this.methodReturns(settled),
          (error: unknown) => this.methodFails(error),
        )
      : this.methodReturns(value);
  }

  /**
   * Makes the outcome durable and says what the client gets. Called once, when the response has ended and
   * the method has settled, or at once for a response that an outsider gave.
   */
  settle(response: EndedResponse): Promise<Verdict> {
    this.over = true;
    // No `finally()`, which makes two more promises of each request.
    return this.conclude(this.decide(response), response).then(
      (verdict) => {
        this.finishUnlessRunning();
        return verdict;
      },
      (cause: unknown) => {
        this.finishUnlessRunning();
        throw cause;
      },
    );
  }

  /** Ends the attempt for a process that cannot wait any longer. What its handler still does is not recorded. */
  async giveUp(): Promise<void> {
    const isSettling = this.over && !this.running;
    if (!isSettling) {
      this.abort();
      this.lose(await this.disown());
    }
  }

  protected decide(response: EndedResponse): Outcome {
    const outcome = decideOutcome(this.options.mode, this.methodEnd, response, this.released);
    return outcome !== 'release' && this.isRefused(response) ? 'release' : outcome;
  }

  /** What a record of this outcome holds. */
  protected recorded(outcome: Outcome, { content }: EndedResponse): RecordedResponse {
    return outcome === 'store' && content ? content : 'unavailable';
  }

  /** Ends the attempt from inside, whatever its handler still does. */
  protected lose(error: IdempotencyError): void {
    if (this.over) {
      return;
    }
    this.over = true;
    this.finishUnlessRunning();
    this.listener?.lost(error);
  }

  /** The method has settled after its client was answered. */
  protected abstract settleLate(): Promise<void>;

  /** Tells the handler that what it does can no longer be recorded. */
  protected abort(): void {
    this.isAborted = true;
    this.aborter?.abort();
  }

  /** Made when it is asked for, as the signal is: most handlers never do. */
  private get steps(): Steps {
    this.madeSteps ??= this.makeSteps();
    return this.madeSteps;
  }

  private get signal(): AbortSignal {
    this.aborter ??= new AbortController();
    if (this.isAborted) {
      this.aborter.abort();
    }
    return this.aborter.signal;
  }

  protected abstract makeSteps(): Steps;
  protected abstract readonly manager: unknown;
  protected abstract enter<T>(work: () => T): T;
  protected abstract exit<T>(work: () => T): T;
  /** @returns what the world outside the handler sees of the error */
  protected abstract methodThrew(error: unknown): Promise<unknown>;
  /** Leaves the claim behind. @returns what the client is told */
  protected abstract disown(): Promise<IdempotencyError>;
  protected abstract conclude(outcome: Outcome, response: EndedResponse): Promise<Verdict>;

  private methodReturns<T>(value: T): T | Promise<T> {
    this.methodEnd = { type: 'returned' };
    return this.methodEnds()?.then(() => value) ?? value;
  }

  private async methodFails(error: unknown): Promise<never> {
    this.methodEnd = { type: 'threw', error };
    try {
      const shown = await this.methodThrew(error);
      this.methodEnd = { type: 'threw', error: shown };
      throw shown;
    } finally {
      await this.methodEnds();
    }
  }

  /** @returns a promise where the client was answered before, and the end of the method is still to be recorded */
  private methodEnds(): Promise<void> | undefined {
    this.running = false;
    if (this.over) {
      return this.settleLate().then(() => this.finish());
    }
    this.listener?.methodSettled(this.methodEnd);
    return undefined;
  }

  private finishUnlessRunning(): void {
    if (!this.running) {
      this.finish();
    }
  }

  private finish(): void {
    if (this.afterCommit.isIdle) {
      this.onOver(this);
    } else {
      void this.afterCommit.done().then(() => this.onOver(this));
    }
  }

  private makeContext(): IdempotentContext {
    const { id, key, scope, operation } = this.target;
    const signal = (): AbortSignal => this.signal;
    const deriveKey = (name: string): string => hashParts('derived-key/1', [id, name]).toString('hex');
    return {
      key,
      scope,
      operation,
      attempt: this.attemptNumber,
      mode: this.options.mode,
      manager: this.manager,
      get signal() {
        return signal();
      },
      release: () => {
        this.released = true;
      },
      deriveKey,
      step: (name, work) => this.steps.run(name, async () => work(deriveKey(name))),
      transactionalStep: (name, work) => this.steps.runInTransaction(name, async () => work(deriveKey(name))),
      afterCommit: (work) => this.afterCommit.add(work),
    };
  }

  /** Asks `storeIf`, except where a release would undo a success. */
  private isRefused({ status, type }: EndedResponse): boolean {
    const isKnown = type === 'complete' || type === 'too-large';
    if (!isKnown || (this.options.mode === 'transaction' && status < 400)) {
      return false;
    }
    const error = this.methodEnd.type === 'threw' ? this.methodEnd.error : undefined;
    try {
      return !this.options.storeIf({ status, error, mode: this.options.mode });
    } catch (cause) {
      this.logger.error('The option `storeIf` threw; the outcome is stored.', cause);
      return false;
    }
  }
}
