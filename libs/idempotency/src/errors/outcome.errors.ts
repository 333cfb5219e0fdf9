import { HttpStatus } from '@nestjs/common';
import { IdempotencyErrorCode } from './idempotency-error-code.js';
import { IdempotencyError } from './idempotency.error.js';

const OUTCOME_UNKNOWN_TITLE = 'The outcome of the request is unknown';

/** 409: an attempt died in `lease` mode, and `onAbandoned` is `'fail'`. @publicApi */
export class IdempotencyAttemptAbandonedError extends IdempotencyError {
  constructor() {
    super({
      code: IdempotencyErrorCode.OutcomeUnknown,
      status: HttpStatus.CONFLICT,
      title: OUTCOME_UNKNOWN_TITLE,
      detail:
        'The attempt with this key was interrupted. It may have had its effect, so it is not repeated. ' +
        'Look at the resource before you try again with a new key.',
    });
  }
}

/** 503: the database did not tell whether the outcome was recorded. @publicApi */
export class IdempotencyOutcomeUnknownError extends IdempotencyError {
  constructor(retryAfter: number, cause?: unknown) {
    super({
      code: IdempotencyErrorCode.OutcomeUnknown,
      status: HttpStatus.SERVICE_UNAVAILABLE,
      title: OUTCOME_UNKNOWN_TITLE,
      detail:
        'It is not known yet whether this request took effect. Retry with the same key to get the truth.',
      retryAfter,
      cause,
    });
  }
}

/** 409: the request was executed, and its response was not stored. @publicApi */
export class IdempotencyResponseUnavailableError extends IdempotencyError {
  constructor() {
    super({
      code: IdempotencyErrorCode.ResponseUnavailable,
      status: HttpStatus.CONFLICT,
      title: 'The stored response is unavailable',
      detail:
        'The request with this key was executed once and is not repeated. Its response was too large, was ' +
        'broken off, or was answered by a time-out, so it cannot be replayed. Read the resource instead.',
    });
  }
}

/** 500: the record exists and cannot be read; never re-executes. @publicApi */
export class IdempotencyRecordUnreadableError extends IdempotencyError {
  constructor(cause?: unknown) {
    super({
      code: IdempotencyErrorCode.RecordUnreadable,
      status: HttpStatus.INTERNAL_SERVER_ERROR,
      title: 'The idempotency record cannot be read',
      detail: 'A record exists for this key, and it cannot be read. The request is not executed again.',
      cause,
    });
  }
}

/**
 * 500 or 503: the handler succeeded in `transaction` mode, and its transaction could not commit.
 * Nothing happened, and the key is free.
 *
 * @publicApi
 */
export class IdempotencyNotCommittedError extends IdempotencyError {
  /** @param retryAfter milliseconds, where a retry may succeed (503); without it, the fault is permanent (500) */
  constructor(retryAfter: number | undefined, cause?: unknown) {
    super({
      code: IdempotencyErrorCode.NotCommitted,
      status: retryAfter === undefined ? HttpStatus.INTERNAL_SERVER_ERROR : HttpStatus.SERVICE_UNAVAILABLE,
      title: 'The transaction was not committed',
      detail:
        'The transaction of this request was rolled back. Nothing happened, and the key is free for a retry.',
      retryAfter,
      cause,
    });
  }
}
