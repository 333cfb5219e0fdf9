import { hashParts } from './hashing.js';

/** Who, what and which: the three that identify a record. @publicApi */
export interface RecordIdentity {
  /** `null` where the `scope` option is `false`. */
  readonly scope: string | null;
  readonly operation: string;
  readonly key: string;
}

/** The record's primary key: 32 bytes, however long scope, operation and key are. */
export function recordId({ scope, operation, key }: RecordIdentity): Buffer {
  return hashParts('record/1', [scope === null ? 'shared' : 'scoped', scope ?? '', operation, key]);
}
