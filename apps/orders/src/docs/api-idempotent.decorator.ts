import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiHeader, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ErrorResponse } from './error-response.js';
import { ProblemDetails } from './problem-details.js';

const PROBLEM = { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDetails) } } };
const ERROR = { 'application/json': { schema: { $ref: getSchemaPath(ErrorResponse) } } };

/** Documents what `@Idempotent()` does to a POST: the header it reads and the problems it answers. */
export function ApiIdempotent(): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(ProblemDetails, ErrorResponse),
    ApiHeader({
      name: 'Idempotency-Key',
      required: true,
      description: 'A new value for each thing you want done, the same value for each retry of it',
      example: '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
    }),
    ApiResponse({
      status: 400,
      description: 'The key is missing or malformed; or the body is invalid',
      content: { ...PROBLEM, ...ERROR },
    }),
    ApiResponse({
      status: 409,
      description:
        'The first request with this key is still being executed (`Retry-After` says when to retry), ' +
        'or its outcome is unknown; or the order does not allow it',
      content: { ...PROBLEM, ...ERROR },
    }),
    ApiResponse({
      status: 422,
      description: 'The key was used for another request; or the request makes no sense',
      content: { ...PROBLEM, ...ERROR },
    }),
    ApiResponse({
      status: 503,
      description: 'Retry with the same key, after as many seconds as `Retry-After` says',
      content: PROBLEM,
    }),
  );
}
