/**
 * Something around the application is not as it must be. The message says what to change, so there is
 * no stack that would hide it.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
  override readonly stack = undefined;
}
