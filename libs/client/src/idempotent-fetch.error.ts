/**
 * All attempts have ended without a final answer.
 *
 * @publicApi
 */
export class IdempotentFetchError extends Error {
  override readonly name = 'IdempotentFetchError';
  readonly code = 'IDEMPOTENT_FETCH_GAVE_UP';

  /**
   * @param key to go on with later: with another one the operation could be carried out twice
   * @param attempts that were made
   * @param outcomeUnknown whether the server may have carried the operation out
   * @param response of the last attempt, whole and unread; undefined where none came, and `cause` says why
   */
  constructor(
    message: string,
    readonly key: string,
    readonly attempts: number,
    readonly outcomeUnknown: boolean,
    readonly response: Response | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}
