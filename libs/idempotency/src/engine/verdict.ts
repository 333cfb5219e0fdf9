import type { IdempotencyError } from '../errors/idempotency.error.js';
import { IdempotencyKeyInUseError, IdempotencyKeyReusedError } from '../errors/key.errors.js';
import {
  IdempotencyAttemptAbandonedError,
  IdempotencyResponseUnavailableError,
} from '../errors/outcome.errors.js';
import type { ExistingRecord } from '../store/claim.js';
import type { StoredResponse } from './stored-response.js';

/** What the client of a request gets: the handler's own response, a recorded one, or an error of ours. */
export type Verdict = { readonly type: 'send' } | Answer;

export type Answer =
  | { readonly type: 'replay'; readonly response: StoredResponse }
  | { readonly type: 'refuse'; readonly error: IdempotencyError };

export const SEND: Verdict = { type: 'send' };

export const refuse = (error: IdempotencyError): Answer => ({ type: 'refuse', error });

/**
 * What a request gets from a record that somebody else has. The fingerprint comes first: a client that
 * reuses a key by mistake must hear so at once, not "retry later".
 *
 * @param retryAfter milliseconds
 */
export function answerFrom(record: ExistingRecord, fingerprint: Buffer, retryAfter: number): Answer {
  if (!record.fingerprint?.equals(fingerprint)) {
    return refuse(new IdempotencyKeyReusedError());
  }
  switch (record.type) {
    case 'in-flight':
      return refuse(new IdempotencyKeyInUseError(retryAfter));
    case 'abandoned':
      return refuse(new IdempotencyAttemptAbandonedError());
    case 'completed':
      return record.response === 'unavailable'
        ? refuse(new IdempotencyResponseUnavailableError())
        : { type: 'replay', response: record.response };
  }
}
