import { HttpStatus } from '@nestjs/common';
import { IdempotencyErrorCode } from './idempotency-error-code.js';
import { IdempotencyError } from './idempotency.error.js';

/** 500: the `scope` option gave no usable principal for this request. @publicApi */
export class IdempotencyScopeUnresolvedError extends IdempotencyError {
  constructor(cause?: unknown) {
    super({
      code: IdempotencyErrorCode.ScopeUnresolved,
      status: HttpStatus.INTERNAL_SERVER_ERROR,
      title: 'The owner of the idempotency key is not known',
      detail: 'The server could not tell whom this key belongs to. Nothing was executed.',
      cause,
    });
  }
}

/** 500: the request has a body that nothing has parsed, so retries could not be compared. @publicApi */
export class IdempotencyBodyUnparsedError extends IdempotencyError {
  constructor() {
    super({
      code: IdempotencyErrorCode.BodyUnparsed,
      status: HttpStatus.INTERNAL_SERVER_ERROR,
      title: 'The request body cannot be compared',
      detail:
        'The server has not read the body of this request, and cannot tell a retry from a new request. Nothing was executed.',
    });
  }
}

/** 503: the store cannot be reached before the claim; nothing was executed. @publicApi */
export class IdempotencyStoreUnavailableError extends IdempotencyError {
  constructor(retryAfter: number, cause?: unknown) {
    super({
      code: IdempotencyErrorCode.StoreUnavailable,
      status: HttpStatus.SERVICE_UNAVAILABLE,
      title: 'The idempotency store is unavailable',
      detail:
        'The server cannot check this key at the moment. Nothing was executed. Retry with the same key.',
      retryAfter,
      cause,
    });
  }
}

/** 503: the application is closing; nothing was executed. @publicApi */
export class IdempotencyShuttingDownError extends IdempotencyError {
  constructor(retryAfter: number) {
    super({
      code: IdempotencyErrorCode.ShuttingDown,
      status: HttpStatus.SERVICE_UNAVAILABLE,
      title: 'The server is shutting down',
      detail: 'This server is shutting down. Nothing was executed. Retry with the same key.',
      retryAfter,
    });
  }
}
