/**
 * Thrown at start-up for an option, a handler or a database that the library cannot work with.
 * The message names the place, the value and the fix.
 *
 * @publicApi
 */
export class IdempotencyConfigurationError extends Error {
  override readonly name = 'IdempotencyConfigurationError';
}
