/**
 * Nothing has happened in the store: nothing was sent, since there was no connection in time, or the store has refused it.
 * What a store rejects with otherwise means that nobody knows.
 *
 * @publicApi
 */
export class StoreUnreachableError extends Error {
  override readonly name = 'StoreUnreachableError';

  constructor(cause: unknown, message = 'There was no connection to the store in time.') {
    // The log shows messages, and no causes.
    super(cause instanceof Error ? `${message} ${cause.message}` : message, { cause });
  }
}
