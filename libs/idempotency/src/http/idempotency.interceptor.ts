import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  Logger,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, of } from 'rxjs';
import { IdempotencyEngine } from '../engine/idempotency-engine.js';
import type { StoredResponse } from '../engine/stored-response.js';
import { handlesResponse, RENDER_METADATA } from '../nest-metadata.js';
import { HeadersAtEntry } from './headers-at-entry.js';
import { IdempotentExchange } from './idempotent-exchange.js';
import type { IdempotentHandler } from './idempotent-handlers.js';
import { ProblemDetails } from './problem-details.js';
import { replayOf } from './replay.js';
import { stateOf } from './request-state.js';
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

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const state = stateOf(context.switchToHttp().getRequest());
    if (!state) {
      return next.handle();
    }
    const { key, handler, exchange: begun } = state;
    if (begun?.isRepeatable) {
      // An interceptor outside of ours repeats the handler: it is the same request, under the same claim.
      return begun.run(handler.registration, next);
    }
    const targeting = targetOf(context, handler.options, key);
    const target = targeting instanceof Promise ? await targeting : targeting;
    const admission = await this.engine.admit(target, handler.options);
    switch (admission.type) {
      case 'refuse':
        throw admission.error;
      case 'replay':
        return this.replay(context, handler, admission.response);
      case 'execute': {
        const takesResponseOver = handlesResponse(context.getClass(), handler.registration.methodName);
        const { attempt } = admission;
        const exchange = new IdempotentExchange(attempt, takesResponseOver, this.problems, this.logger);
        state.exchange = exchange;
        exchange.record((listener) => this.recorder(context, handler, listener));
        return exchange.run(handler.registration, next);
      }
    }
  }

  /** Nest replies as ever, with nothing, and the recorder sends the recorded answer in its place. */
  private replay(
    context: ExecutionContext,
    handler: IdempotentHandler,
    stored: StoredResponse,
  ): Observable<undefined> {
    const listener: RecorderListener = {
      over: () => recorder.flushReplay(replayOf(stored)),
      tooLarge: () => undefined,
      isUndecided: false,
      isStale: false,
    };
    const recorder = this.recorder(context, handler, listener);
    const response: object = context.switchToHttp().getResponse();
    const reply = (): unknown => this.adapterHost.httpAdapter.reply(response, undefined, stored.status);
    if (handlesResponse(context.getClass(), handler.registration.methodName)) {
      void reply();
    } else if (Reflect.hasMetadata(RENDER_METADATA, context.getHandler())) {
      // Express calls it `render`, Fastify `view`: a template would fail without its model.
      Object.assign(response, { render: reply, view: reply });
    }
    return of(undefined);
  }

  private recorder(
    context: ExecutionContext,
    { options }: IdempotentHandler,
    listener: RecorderListener,
  ): ResponseRecorder {
    return new ResponseRecorder(
      new HeadersAtEntry(context.switchToHttp().getResponse()),
      options.headerRule,
      options.maxResponseBytes,
      listener,
    );
  }
}
