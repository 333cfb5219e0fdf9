import { type CallHandler, InternalServerErrorException, type LoggerService } from '@nestjs/common';
import type { Subscriber } from 'rxjs';
import type { Attempt, AttemptListener, EndedResponse } from '../engine/attempt.js';
import { attemptScope } from '../engine/attempt-scope.js';
import type { MethodEnd } from '../engine/outcome-policy.js';
import type { Verdict } from '../engine/verdict.js';
import type { IdempotencyError } from '../errors/idempotency.error.js';
import { IdempotencyOutcomeUnknownError } from '../errors/outcome.errors.js';
import type { ProblemDetails } from './problem-details.js';
import { replayOf } from './replay.js';
import type { RequestState } from './request-state.js';
import type { RecorderListener, ResponseRecorder } from './response-recorder.js';
import { isStreamingBody } from './streaming-body.js';

/** Milliseconds that a stream may stand still once its client has gone: Nest has stopped it then. */
const PATIENCE_WITH_STREAM = 1_000;

/** Milliseconds; for a fault of this library, so no option says it. */
const UNSETTLED_RETRY_AFTER = 1_000;

/**
 * Brings the two halves of an executing request together: its attempt settles when the method has settled AND
 * the response has ended, in either order.
 *
 * Others can answer in the handler's place while it runs: a time-out interceptor around it, one inside, one
 * that races. Their answer must be told from one that the handler gives by `@Res()`, since theirs is never the
 * result.
 */
export class IdempotentExchange implements AttemptListener, RecorderListener {
  private recorder!: ResponseRecorder;
  private subscriber: Subscriber<unknown> | undefined;
  private byOutsider = false;
  private overflowed = false;
  private methodHasSettled = false;
  private isLost = false;
  private answered = false;

  constructor(
    private readonly attempt: Attempt,
    private readonly state: RequestState,
    private readonly problems: ProblemDetails,
    private readonly logger: LoggerService,
  ) {
    attempt.listen(this);
    state.exchange = this;
  }

  record(recorder: (listener: RecorderListener) => ResponseRecorder): void {
    this.recorder = recorder(this);
  }

  get isRepeatable(): boolean {
    return this.attempt.isRepeatable && !this.answered;
  }

  /**
   * @param subscriber of the stream that Nest and the interceptors outside of ours see
   * @returns ends it
   */
  run(next: CallHandler, subscriber: Subscriber<unknown>): () => void {
    this.subscriber = subscriber;
    const inner = this.attempt.run(this.state.handler.registration, () =>
      next.handle().subscribe({
        next: (value) => this.emit(subscriber, value),
        error: (error: unknown) => this.fail(error),
        complete: () => this.complete(subscriber),
      }),
    );
    return () => {
      // Torn down by a time-out outside of ours, unless the stream has ended by itself.
      this.outsiderTakesOver();
      this.subscriber = undefined;
      inner.unsubscribe();
    };
  }

  methodSettled(method: MethodEnd): void {
    this.methodHasSettled = true;
    this.overflowed = this.recorder.isOverflowed;
    // In a transaction what the handler did is undone, and so is what it said; in a lease it stands.
    const hasAnswered = this.recorder.isBegun || this.recorder.isBroken;
    const isUndone = hasAnswered && method.type === 'threw' && this.attempt.context.mode === 'transaction';
    if (isUndone && this.recorder.isOver) {
      // Two answers to one request: neither is the final one.
      this.attempt.context.release();
    }
    if (this.overflowed || isUndone) {
      this.recorder.drop();
    }
    this.recorder.expectEnd(this.attempt.patience);
    this.settleWhenBothAreOver();
  }

  over(): void {
    this.byOutsider ||= this.attempt.isMethodRunning && !this.isAnsweredByHandler;
    this.settleWhenBothAreOver();
  }

  get isStale(): boolean {
    return this.byOutsider && this.isInMethod;
  }

  get isUndecided(): boolean {
    return this.attempt.isMethodRunning;
  }

  tooLarge(): void {
    this.settleWhenBothAreOver();
  }

  /** The client gets the error at once: from the application's filters, as long as Nest still waits for the stream. */
  lost(error: IdempotencyError): void {
    if (this.answered) {
      return;
    }
    this.recorder.drop();
    if (this.subscriber) {
      this.isLost = true;
      this.fail(error);
    } else {
      this.decideAnswer();
      this.send({ type: 'refuse', error });
    }
  }

  /**
   * A handler with `@Res()` may answer from anywhere, such as a listener that was there before the request; any
   * other one is known by its async context.
   */
  private get isAnsweredByHandler(): boolean {
    return this.state.handler.takesResponseOver || this.isInMethod;
  }

  private get isInMethod(): boolean {
    const scope = attemptScope.getStore();
    return scope?.attempt === this.attempt && scope.inMethod;
  }

  /**
   * Somebody else answers while the method runs. They come too late for a whole answer of the handler's; of half an
   * answer nothing has left, and theirs takes its place.
   */
  private outsiderTakesOver(): void {
    if (!this.attempt.isMethodRunning || this.recorder.isOver) {
      return;
    }
    this.byOutsider = true;
    if (this.recorder.isBegun) {
      this.recorder.drop();
    }
  }

  private emit(subscriber: Subscriber<unknown>, value: unknown): void {
    if (this.overflowed) {
      return;
    }
    if (isStreamingBody(value)) {
      this.recorder.expectEnd(PATIENCE_WITH_STREAM);
    }
    subscriber.next(value);
  }

  private complete(subscriber: Subscriber<unknown>): void {
    if (this.overflowed) {
      return this.fail(new InternalServerErrorException('The response is too large to be held.'));
    }
    this.outsiderTakesOver();
    subscriber.complete();
  }

  /** Errors leave the attempt: whoever handles them outside is not part of its transaction. */
  private fail(error: unknown): void {
    this.outsiderTakesOver();
    this.attempt.leave(() => this.subscriber?.error(error));
  }

  private settleWhenBothAreOver(): void {
    const isResponseOver = this.recorder.isOver || (this.recorder.isTooLarge && this.methodHasSettled);
    if (this.answered || !isResponseOver) {
      return;
    }
    if (this.isLost) {
      this.decideAnswer();
      this.recorder.flush();
    } else if (this.byOutsider || !this.attempt.isMethodRunning) {
      this.decideAnswer();
      this.settle();
    }
  }

  /** From here on nobody else answers, and the handler is not repeated under this claim. */
  private decideAnswer(): void {
    this.answered = true;
    if (this.state.exchange === this) {
      // Express keeps its responses for long; what they lead to should not stay as long as they.
      this.state.exchange = undefined;
    }
  }

  private settle(): void {
    this.attempt.settle(this.endedResponse()).then(
      (verdict) => this.trySend(verdict),
      (cause: unknown) => this.tellUnsettled(cause),
    );
  }

  private trySend(verdict: Verdict): void {
    try {
      this.send(verdict);
    } catch (cause) {
      this.tellUnsettled(cause);
    }
  }

  private tellUnsettled(cause: unknown): void {
    this.logger.error(
      'The outcome of a request could not be settled.',
      cause instanceof Error ? cause.stack : cause,
    );
    try {
      this.send({ type: 'refuse', error: new IdempotencyOutcomeUnknownError(UNSETTLED_RETRY_AFTER, cause) });
    } catch {
      // Somebody's wrapper of the response fails for each answer.
      this.recorder.giveUp();
    }
  }

  private endedResponse(): EndedResponse {
    const { status, isBroken, content } = this.recorder;
    if (this.byOutsider) {
      return { type: 'by-outsider', status, content: undefined };
    }
    if (isBroken) {
      return { type: 'broken', status, content };
    }
    return { type: content ? 'complete' : 'too-large', status, content };
  }

  private send(verdict: Verdict): void {
    switch (verdict.type) {
      case 'send':
        return this.recorder.flush();
      case 'replay':
        return this.recorder.flushInstead(replayOf(verdict.response));
      case 'refuse':
        return this.recorder.flushInstead(this.problems.render(verdict.error));
    }
  }
}
