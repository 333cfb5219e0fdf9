import { isDeepStrictEqual } from 'node:util';

import { describeOperation, RECORDS, type Operation, type RecordName } from './operation.js';
import { expected, type Records } from './reference-model.js';

/** An operation that has been answered. Both times are positions in one sequence of events. */
export interface Call {
  operation: Operation;
  begun: number;
  ended: number;
  answer: unknown;
}

/**
 * Whether the model gives the same answers when it does all of this in some order, in which whatever had ended
 * before another operation began comes before it.
 */
export function isLinearizable(calls: Call[]): boolean {
  const triedInVain = new Set<string>();
  const search = (left: Call[], records: Records): boolean => {
    const position = JSON.stringify([left.map(({ begun }) => begun), records]);
    if (triedInVain.has(position)) return false;
    triedInVain.add(position);
    const firstEnd = Math.min(...left.map(({ ended }) => ended));
    const mayBeNext = left.filter(({ begun }) => begun < firstEnd);
    return (
      left.length === 0 ||
      mayBeNext.some((call) => {
        const others = left.filter((other) => other !== call);
        return ways(call, calls)
          .map((spared) => expected(records, call.operation, spared))
          .some(([answer, after]) => isDeepStrictEqual(answer, call.answer) && search(others, after));
      })
    );
  };
  return search(calls, {});
}

/** A purge spares what somebody works on, and everything while another purge is at it. */
function ways(call: Call, calls: Call[]): RecordName[][] {
  const isAlone = calls.every(
    (other) => other === call || other.ended < call.begun || call.ended < other.begun,
  );
  return call.operation.type === 'purge' && !isAlone ? [[], ['first'], ['second'], [...RECORDS]] : [[]];
}

export function describeCalls(calls: Call[]): string {
  return calls
    .toSorted((one, other) => one.begun - other.begun)
    .map(
      ({ operation, begun, ended, answer }) =>
        `${begun}–${ended} ${describeOperation(operation)} → ${JSON.stringify(answer)}`,
    )
    .join('\n');
}
