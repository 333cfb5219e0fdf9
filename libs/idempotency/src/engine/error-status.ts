/**
 * The HTTP status that an error stands for: `HttpException` and its relatives by `getStatus()`, errors of
 * the `http-errors` family by `statusCode`. Anything else is a fault of the server.
 */
export function errorStatus(error: unknown): number {
  if (typeof error !== 'object' || error === null) {
    return 500;
  }
  if ('getStatus' in error && typeof error.getStatus === 'function') {
    return Number(error.getStatus());
  }
  if ('statusCode' in error && typeof error.statusCode === 'number' && 'expose' in error) {
    return error.statusCode;
  }
  return 500;
}
