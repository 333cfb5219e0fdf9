import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { IdempotencyError } from '../errors/idempotency.error.js';
import { ProblemDetails } from './problem-details.js';

/** Answers the library's own errors with problem details; catches nothing else. @publicApi */
@Catch(IdempotencyError)
export class IdempotencyExceptionFilter implements ExceptionFilter<IdempotencyError> {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly problems: ProblemDetails,
  ) {}

  catch(error: IdempotencyError, host: ArgumentsHost): void {
    const { httpAdapter } = this.adapterHost;
    const response: object = host.switchToHttp().getResponse();
    if (httpAdapter.isHeadersSent(response)) {
      httpAdapter.end(response);
      return;
    }
    const { status, headers, body } = this.problems.render(error);
    for (const [name, value] of Object.entries(headers)) {
      httpAdapter.setHeader(response, name, value as string);
    }
    httpAdapter.reply(response, body.toString(), status);
  }
}
