import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  Logger,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Observable, type Subscriber } from 'rxjs';
import { ANSWERED_ELSEWHERE } from '../engine/attempt.js';
import { type Admission, IdempotencyEngine } from '../engine/idempotency-engine.js';
import type { StoredResponse } from '../engine/stored-response.js';
import { RENDER_METADATA } from '../nest-metadata.js';
import type { ClaimTarget } from '../store/claim.js';
import { HeadersAtEntry } from './headers-at-entry.js';
import { IdempotentExchange } from './idempotent-exchange.js';
import type { IdempotentHandler } from './idempotent-handlers.js';
import { ProblemDetails } from './problem-details.js';
import { responseOf } from './raw-http.js';
import { replayOf } from './replay.js';
import { type RequestState, stateOf } from './request-state.js';
import { targetOf } from './request-target.js';
import { type RecorderListener, ResponseRecorder } from './response-recorder.js';

/**
 * Claims the key of a request, then lets the handler run under the claim, or answers from the record. It runs
 * after all guards, so that a caller whose access was revoked never gets a replay.
 *
 * @publicApi
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  private readonly logger = new Logger('Idempotency');

  constructor(
    private readonly engine: IdempotencyEngine,
    private readonly problems: ProblemDetails,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const state = stateOf(responseOf(context));
    return state
      ? new Observable((subscriber) => this.begin(context, next, state, subscriber))
      : next.handle();
  }

  private begin(
    context: ExecutionContext,
    next: CallHandler,
    state: RequestState,
    subscriber: Subscriber<unknown>,
  ): void {
    const { key, handler, exchange } = state;
    if (exchange?.isRepeatable) {
      // An interceptor outside of ours repeats the handler: it is the same request, under the same claim.
      subscriber.add(exchange.run(next, subscriber));
      return;
    }
    const admit = (target: ClaimTarget): Promise<Admission> => this.engine.admit(target, handler.options);
    const target = targetOf(context, handler.options, key);
    (target instanceof Promise ? target.then(admit) : admit(target)).then(
      (admission) => {
        try {
          this.proceed(context, next, state, subscriber, admission);
        } catch (error) {
          // Somebody's wrapper of the response fails before the handler has begun.
          this.giveBack(admission);
          subscriber.error(error);
        }
      },
      (error: unknown) => subscriber.error(error),
    );
  }

  private proceed(
    context: ExecutionContext,
    next: CallHandler,
    state: RequestState,
    subscriber: Subscriber<unknown>,
    admission: Admission,
  ): void {
    if (subscriber.closed) {
      // Somebody outside of ours has answered while the key was claimed: nothing is executed.
      return this.giveBack(admission);
    }
    switch (admission.type) {
      case 'refuse':
        return subscriber.error(admission.error);
      case 'replay':
        this.replay(context, state.handler, admission.response);
        subscriber.next(undefined);
        return subscriber.complete();
      case 'execute': {
        const exchange = new IdempotentExchange(admission.attempt, state, this.problems, this.logger);
        exchange.record((listener) => this.recorder(context, state.handler, listener));
        subscriber.add(exchange.run(next, subscriber));
      }
    }
  }

  private giveBack(admission: Admission): void {
    if (admission.type !== 'execute') {
      return;
    }
    admission.attempt.settle(ANSWERED_ELSEWHERE).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.stack : cause;
      this.logger.error('A key that was claimed for nothing could not be freed.', reason);
    });
  }

  /** Nest replies as ever, with nothing, and the recorder sends the recorded answer in its place. */
  private replay(context: ExecutionContext, handler: IdempotentHandler, stored: StoredResponse): void {
    const listener: RecorderListener = {
      over: () => recorder.flushReplay(replayOf(stored)),
      tooLarge: () => undefined,
      isUndecided: false,
      isStale: false,
    };
    const recorder = this.recorder(context, handler, listener);
    const response = responseOf(context);
    const reply = (): unknown => this.adapterHost.httpAdapter.reply(response, undefined, stored.status);
    if (handler.takesResponseOver) {
      void reply();
    } else if (Reflect.hasMetadata(RENDER_METADATA, context.getHandler())) {
      // Express calls it `render`, Fastify `view`: a template would fail without its model.
      Object.assign(response, { render: reply, view: reply });
    }
  }

  private recorder(
    context: ExecutionContext,
    { options }: IdempotentHandler,
    listener: RecorderListener,
  ): ResponseRecorder {
    return new ResponseRecorder(
      new HeadersAtEntry(responseOf(context)),
      options.headerRule,
      options.maxResponseBytes,
      listener,
    );
  }
}
