import { describeAnswer } from '../clients/answer.js';
import type { Intent } from '../clients/intent.js';
import { isHonestlyUnknown } from './on-abandoned.js';
import type { Violation } from './violation.js';

/** All final answers to one key are the same, byte by byte, and are ones that this intent can get. */
export function checkAnswers(intent: Intent): Violation[] {
  const { finals, last, task } = intent;
  if (finals.length > 1) {
    const shown = finals.map(describeAnswer).join('; ');
    return [{ kind: 'mismatched', text: `${finals.length} final answers to one key: ${shown}`, intent }];
  }
  const [final] = finals;
  if (!final) {
    if (isHonestlyUnknown(intent)) return [];
    const shown = last ? describeAnswer(last) : 'none';
    return [{ kind: 'stuck', text: `no final answer; the last one is ${shown}`, intent }];
  }
  // In lease mode an error is recorded, since what had happened until then cannot be undone: a refund's. A payment goes on.
  const isRecordedFailure = task.type === 'refund' && final.status >= 500;
  if (final.status === intent.expected || isRecordedFailure) return [];
  const text = `the final answer is ${describeAnswer(final)}, where ${intent.expected} was to be expected`;
  return [{ kind: 'mismatched', text, intent }];
}
