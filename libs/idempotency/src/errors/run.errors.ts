/**
 * What `IdempotencyService.run()` throws for a key whose work ended in an error that was recorded: the work is not
 * repeated.
 *
 * @publicApi
 */
export class IdempotencyRecordedFailureError extends Error {
  override readonly name = 'IdempotencyRecordedFailureError';

  /**
   * @param status the HTTP status that the error stood for; 500 where it stood for none
   * @param originalName `name` of the error
   * @param originalMessage `message` of the error
   */
  constructor(
    readonly status: number,
    readonly originalName: string,
    readonly originalMessage: string,
  ) {
    super(`The work of this key has failed before, and is not repeated: ${originalName}: ${originalMessage}`);
  }
}

/** `IdempotencyService.release()` was asked for a record that is not abandoned. @publicApi */
export class IdempotencyReleaseRefusedError extends Error {
  override readonly name = 'IdempotencyReleaseRefusedError';

  /** @param state of the record; `undefined` where there is none */
  constructor(readonly state: string | undefined) {
    super(
      state === undefined
        ? 'There is no record of this key, so there is nothing to release.'
        : `The record of this key is ${state}, and only an abandoned one may be released.`,
    );
  }
}
