import { isAbandoned } from '../clients/answer.js';
import type { Intent, Task } from '../clients/intent.js';

/** As the sample app has it, for each operation; of orders it matters in `lease` mode alone. */
const ON_ABANDONED = { order: 'retry', pay: 'retry', refund: 'fail' } satisfies Record<
  Task['type'],
  'fail' | 'retry'
>;

/** Whether an attempt that died is never repeated. */
export function isNeverRepeated({ task }: Intent): boolean {
  return ON_ABANDONED[task.type] === 'fail';
}

/** The client was told that nobody knows what became of its intent: it was executed once, or not at all. */
export function isHonestlyUnknown(intent: Intent): boolean {
  return isNeverRepeated(intent) && intent.last !== undefined && isAbandoned(intent.last);
}
