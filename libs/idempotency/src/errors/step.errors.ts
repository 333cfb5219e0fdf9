import { HttpStatus } from '@nestjs/common';
import { IdempotencyErrorCode } from './idempotency-error-code.js';
import { IdempotencyError } from './idempotency.error.js';

/**
 * A step was used in a way that cannot be carried out: its name twice in one attempt, one inside another, or a
 * result that cannot be recorded.
 *
 * @publicApi
 */
export class IdempotencyStepError extends Error {
  override readonly name = 'IdempotencyStepError';
}

/**
 * 503: another process has taken the attempt over, or the database cannot tell. What the step did is not recorded
 * by this one, and the handler must stop.
 *
 * @publicApi
 */
export class IdempotencyLeaseLostError extends IdempotencyError {
  constructor(retryAfter: number, cause?: unknown) {
    super({
      code: IdempotencyErrorCode.OutcomeUnknown,
      status: HttpStatus.SERVICE_UNAVAILABLE,
      title: 'The outcome of the request is unknown',
      detail: 'This server has lost its claim on the request. Retry with the same key to get the truth.',
      retryAfter,
      cause,
    });
  }
}
