import {
  RESPONSES,
  type Operation,
  type OperationOf,
  type RecordName,
  type ResponseName,
} from './operation.js';

/** Who has a record that was released with steps. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

interface ModelRecord {
  owner: string;
  fingerprint: string;
  attempt: number;
  steps: string | null;
  response: ResponseName | null;
  isLeaseLive: boolean;
  isRetained: boolean;
}

export type Records = Partial<Record<RecordName, ModelRecord>>;

/** What an operation answers, and what it leaves behind. */
export type Outcome = [answer: unknown, after: Records];

/**
 * What the store promises, on a map instead of a table.
 *
 * @param spared records that a purge may leave to the next one, since somebody works on them
 */
export function expected(records: Records, operation: Operation, spared: RecordName[] = []): Outcome {
  if (operation.type === 'purge') return purge(records, spared);
  const { [operation.record]: record, ...others } = records;
  const keep = (answer: unknown): Outcome => [answer, records];
  const remove = (answer: unknown): Outcome => [answer, others];
  const change = (answer: unknown, changes: Partial<ModelRecord>): Outcome =>
    record ? [answer, { ...others, [operation.record]: { ...record, ...changes } }] : keep(answer);
  const isOwners = 'owner' in operation && record?.owner === operation.owner;
  const isHeld = isOwners && record.response === null;
  const isCompleted = isOwners && record.response !== null;
  switch (operation.type) {
    case 'claim': {
      const taken = claim(record, operation);
      if (!taken) return keep(existing(record));
      const { attempt, steps } = taken;
      return [
        { type: 'claimed', attempt, steps },
        { ...others, [operation.record]: taken },
      ];
    }
    case 'complete':
      return isHeld ? change(true, { response: operation.response, isRetained: true }) : keep(isCompleted);
    case 'release':
      if (!isHeld) return keep(false);
      return record.steps === null ? remove(true) : change(true, { owner: NOBODY, isLeaseLive: false });
    case 'renew':
      return isHeld ? change(true, { isLeaseLive: true }) : keep(isCompleted);
    case 'recordSteps':
      return isHeld && operation.steps.length >= (record.steps?.length ?? 0)
        ? change(true, { steps: operation.steps })
        : keep(false);
    case 'releaseAbandoned':
      return record?.response === null && !record.isLeaseLive ? remove(true) : keep(false);
    case 'lapseLease':
      return change(undefined, { isLeaseLive: false });
    case 'endRetention':
      return change(undefined, { isRetained: false });
    case 'find':
      return keep(existing(record));
    case 'inspect':
      return keep(inspection(record));
  }
}

/** @returns the record as it is after the claim, or `undefined` where it is somebody else's */
function claim(record: ModelRecord | undefined, operation: OperationOf<'claim'>): ModelRecord | undefined {
  const { owner, fingerprint, takeOverAbandoned } = operation;
  const begun = { owner, isLeaseLive: true, isRetained: true };
  const state = stateOf(record);
  const isFree = state === 'released' || (state === 'abandoned' && takeOverAbandoned);
  if (record?.owner === owner) return record;
  if (!record || state === 'expired')
    return { ...begun, fingerprint, attempt: 1, steps: null, response: null };
  if (!isFree || record.fingerprint !== fingerprint) return undefined;
  return { ...record, ...begun, attempt: record.attempt + 1 };
}

function purge(records: Records, spared: RecordName[]): Outcome {
  const all = Object.entries(records) as [RecordName, ModelRecord][];
  const kept = all.filter(([name, record]) => stateOf(record) !== 'expired' || spared.includes(name));
  return [all.length - kept.length, Object.fromEntries(kept)];
}

function stateOf(record: ModelRecord | undefined) {
  if (!record) return undefined;
  const { owner, response, isLeaseLive, isRetained } = record;
  if (!isRetained && (response !== null || !isLeaseLive)) return 'expired';
  if (response !== null) return 'completed';
  if (owner === NOBODY) return 'released';
  return isLeaseLive ? 'in-flight' : 'abandoned';
}

function existing(record: ModelRecord | undefined): unknown {
  const state = stateOf(record);
  if (!record || state === 'expired') return undefined;
  const { owner, fingerprint, response } = record;
  if (state === 'completed') return { type: state, owner, fingerprint, response };
  return { type: state === 'released' ? 'abandoned' : state, owner, fingerprint };
}

function inspection(record: ModelRecord | undefined): unknown {
  if (!record) return undefined;
  const { owner, attempt, steps, response } = record;
  return { state: stateOf(record), owner, attempt, steps, status: response && RESPONSES[response] };
}
