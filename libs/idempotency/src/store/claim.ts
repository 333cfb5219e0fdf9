import type { RecordIdentity } from '../engine/record-id.js';
import type { RecordedResponse } from '../engine/stored-response.js';

/** Which record, and what a retry must repeat. @publicApi */
export interface ClaimTarget extends RecordIdentity {
  /** 32 bytes, see `recordId()`. */
  readonly id: Buffer;
  /** 32 bytes, see `fingerprintOf()`. */
  readonly fingerprint: Buffer;
}

/**
 * What a record looks like to a request that did not win it. Of a request that is `in-flight` the
 * fingerprint may be unknown to the store; it is then one that differs from the caller's.
 *
 * @publicApi
 */
export type ExistingRecord =
  | {
      readonly type: 'completed';
      readonly fingerprint: Buffer;
      readonly response: RecordedResponse;
      readonly owner: string;
    }
  | {
      readonly type: 'in-flight';
      readonly fingerprint: Buffer | undefined;
      readonly owner: string | undefined;
    }
  | { readonly type: 'abandoned'; readonly fingerprint: Buffer; readonly owner: string };
