import { isAbandoned } from '../clients/answer.js';
import type { Intent } from '../clients/intent.js';

/** As the sample app has it, for each operation in `lease` mode. */
const ON_ABANDONED = { pay: 'retry', refund: 'fail' } satisfies Record<string, 'fail' | 'retry'>;

/** Whether an attempt that died is never repeated. */
export function isNeverRepeated({ task }: Intent): boolean {
  return task.type !== 'order' && ON_ABANDONED[task.type] === 'fail';
}

/** The client was told that nobody knows what became of its intent: it was executed once, or not at all. */
export function isHonestlyUnknown(intent: Intent): boolean {
  return isNeverRepeated(intent) && intent.last !== undefined && isAbandoned(intent.last);
}
