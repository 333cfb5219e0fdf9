import { HttpException, type HttpStatus } from '@nestjs/common';
import type { IdempotencyErrorCode } from './idempotency-error-code.js';

/** @internal */
export interface IdempotencyErrorInit {
  code: IdempotencyErrorCode;
  status: HttpStatus;
  /** Fixed for each code (RFC 9457, section 3.1.3). */
  title: string;
  /** What happened to this request, and what the client can do. */
  detail: string;
  /** Milliseconds after which a retry makes sense. */
  retryAfter?: number;
  cause?: unknown;
}

/**
 * Base of all errors that this library answers with. It extends `HttpException`, so that an
 * exception filter of the application that catches everything still gives the right status.
 *
 * @publicApi
 */
export abstract class IdempotencyError extends HttpException {
  readonly code: IdempotencyErrorCode;
  readonly title: string;
  readonly detail: string;
  /** Milliseconds; sent as `Retry-After` in whole seconds, rounded up. */
  readonly retryAfter?: number;

  protected constructor({ code, status, title, detail, retryAfter, cause }: IdempotencyErrorInit) {
    super({ statusCode: status, error: title, message: detail, code }, status, { cause });
    this.message = detail;
    this.name = new.target.name;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}
