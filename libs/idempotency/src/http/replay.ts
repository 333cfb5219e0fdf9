import type { StoredResponse } from '../engine/stored-response.js';
import { IDEMPOTENT_REPLAYED_HEADER } from '../idempotency.constants.js';

/** A recorded answer, marked as one. */
export function replayOf(stored: StoredResponse): StoredResponse {
  return { ...stored, headers: { ...stored.headers, [IDEMPOTENT_REPLAYED_HEADER]: 'true' } };
}
