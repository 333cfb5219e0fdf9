import { type NestInterceptor, RequestTimeoutException } from '@nestjs/common';
import { catchError, identity, throwError, timeout, TimeoutError } from 'rxjs';

/**
 * The example of the framework's own documentation.
 *
 * @param limit milliseconds
 * @param isOn asked for each request. A handler that is not slow may still take longer than the limit, where the machine is
 */
export function timeOutAfter(limit: number, isOn: () => boolean = () => true): NestInterceptor {
  return {
    intercept: (_context, next) =>
      next.handle().pipe(
        isOn() ? timeout(limit) : identity,
        catchError((error) =>
          throwError(() => (error instanceof TimeoutError ? new RequestTimeoutException() : error)),
        ),
      ),
  };
}
