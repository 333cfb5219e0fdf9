import { HttpStatus } from '@nestjs/common';
import { IdempotencyErrorCode } from './idempotency-error-code.js';
import { IdempotencyError } from './idempotency.error.js';

/** 400: the handler requires a key and the request has none. @publicApi */
export class IdempotencyKeyRequiredError extends IdempotencyError {
  constructor(source: string) {
    super({
      code: IdempotencyErrorCode.KeyRequired,
      status: HttpStatus.BAD_REQUEST,
      title: 'An idempotency key is required',
      detail: `This operation requires ${source}. Create one key per user intent, and send the same key with every retry of it.`,
    });
  }
}

/** 400: the request has a key that cannot be read. @publicApi */
export class IdempotencyKeyInvalidError extends IdempotencyError {
  constructor(reason: string) {
    super({
      code: IdempotencyErrorCode.KeyInvalid,
      status: HttpStatus.BAD_REQUEST,
      title: 'The idempotency key is invalid',
      detail: `${reason} A key is 1 to 255 characters, such as "8e03978e-40d5-43e8-bc93-6894a57f9324".`,
    });
  }
}

/** 409: the first request with this key is still being executed. @publicApi */
export class IdempotencyKeyInUseError extends IdempotencyError {
  constructor(retryAfter: number) {
    super({
      code: IdempotencyErrorCode.KeyInUse,
      status: HttpStatus.CONFLICT,
      title: 'A request with this idempotency key is being executed',
      detail: 'The first request with this key has not finished. Retry with the same key to get its result.',
      retryAfter,
    });
  }
}

/** 422: the key was used for a request with another payload. @publicApi */
export class IdempotencyKeyReusedError extends IdempotencyError {
  constructor() {
    super({
      code: IdempotencyErrorCode.KeyReused,
      status: HttpStatus.UNPROCESSABLE_ENTITY,
      title: 'The idempotency key was used for another request',
      detail:
        'This key belongs to a request with another path, query or body. Use a new key for a new intent.',
    });
  }
}
