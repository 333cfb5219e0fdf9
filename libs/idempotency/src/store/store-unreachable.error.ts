/** There was no connection to the store in time: nothing was sent, so nothing has happened there. @internal */
export class StoreUnreachableError extends Error {
  override readonly name = 'StoreUnreachableError';

  constructor(cause: unknown) {
    super('There was no connection to the store in time.', { cause });
  }
}
