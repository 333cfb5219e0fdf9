import { Inject, Injectable } from '@nestjs/common';
import type { StoredResponse } from '../engine/stored-response.js';
import type { IdempotencyError } from '../errors/idempotency.error.js';
import { IDEMPOTENCY_RESOLVED_OPTIONS } from '../idempotency.constants.js';
import type { ResolvedModuleOptions } from '../options/resolve-module-options.js';

/** Renders the library's errors by RFC 9457. @internal */
@Injectable()
export class ProblemDetails {
  constructor(@Inject(IDEMPOTENCY_RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions) {}

  render(error: IdempotencyError): StoredResponse {
    const { code, title, detail } = error;
    const status = error.getStatus();
    const body = JSON.stringify({ type: this.typeOf(code), title, status, detail, code });
    return { status, headers: this.headers(error), body: Buffer.from(body) };
  }

  private headers({ retryAfter }: IdempotencyError): Record<string, string> {
    const { documentationUrl } = this.options;
    return {
      'content-type': 'application/problem+json; charset=utf-8',
      ...(retryAfter !== undefined && { 'retry-after': String(Math.ceil(retryAfter / 1000)) }),
      ...(documentationUrl !== undefined && { link: `<${documentationUrl}>; rel="describedby"` }),
    };
  }

  /** `IDEMPOTENCY_KEY_IN_USE` is `…key-in-use`. */
  private typeOf(code: string): string {
    const name = code
      .replace(/^IDEMPOTENCY_/, '')
      .toLowerCase()
      .replaceAll('_', '-');
    return this.options.problemTypeBase + name;
  }
}
