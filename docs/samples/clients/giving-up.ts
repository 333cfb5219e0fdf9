// #region giving-up
import { idempotentFetch, IdempotentFetchError } from '@exactly-once/client';

export async function pay(url: string, tell: (message: string) => void): Promise<Response | undefined> {
  try {
    return await idempotentFetch(url, { method: 'POST' }, { maxAttempts: 3 });
  } catch (error) {
    if (!(error instanceof IdempotentFetchError)) throw error;
    tell(error.outcomeUnknown ? `We are not sure yet. Try again: ${error.key}` : 'Nothing was paid.');
    return undefined;
  }
}
// #endregion
