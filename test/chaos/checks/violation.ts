import type { Intent } from '../clients/intent.js';

/**
 * - `duplicate`: an intent was executed, or has an effect, more than once
 * - `lost`: a client was told of a success whose effect is missing
 * - `mismatched`: a client was told two different things, or something that is not so
 * - `stuck`: an intent is in progress past its lease, or a client has no final answer
 */
export type ViolationKind = 'duplicate' | 'lost' | 'mismatched' | 'stuck';

export interface Violation {
  kind: ViolationKind;
  text: string;
  /** None, where it is about everything together. */
  intent?: Intent;
}
