import type { Intent } from '../clients/intent.js';
import type { Facts } from './facts.js';
import { isHonestlyUnknown, isNeverRepeated } from './on-abandoned.js';
import type { Violation } from './violation.js';

/** One record per intent; none in progress, and an abandoned one only where it says so to its client. */
export function checkRecords(intent: Intent, facts: Facts): Violation[] {
  const records = facts.records.get(intent.key) ?? [];
  const violations: Violation[] = [];
  if (records.length > 1) {
    violations.push({ kind: 'duplicate', text: `${records.length} records of one key`, intent });
  }
  for (const { state, attempt, row } of records) {
    if (attempt > 1 && isNeverRepeated(intent)) {
      violations.push({ kind: 'duplicate', text: `it was executed ${attempt} times`, intent });
    }
    if (state === 'in progress' || (state === 'abandoned' && !isHonestlyUnknown(intent))) {
      violations.push({ kind: 'stuck', text: `its record is ${state}: ${JSON.stringify(row)}`, intent });
    }
  }
  return violations;
}

/** A connection in a transaction with which nobody goes on holds its locks until a time-out. */
export function checkConnections({ idleInTransaction }: Facts): Violation[] {
  return idleInTransaction.map((query) => ({
    kind: 'stuck',
    text: `a connection is idle in transaction after: ${query.slice(0, 200)}`,
  }));
}
