import fc from 'fast-check';

import {
  OWNERS,
  RESPONSES,
  type Operation,
  type OperationOf,
  type RecordName,
  type ResponseName,
} from './operation.js';

// Most operations are about one record, and most attempts are of one owner: collisions are what is looked for.
const record = fc.oneof(
  { weight: 9, arbitrary: fc.constant<RecordName>('first') },
  { weight: 1, arbitrary: fc.constant<RecordName>('second') },
);
const holder = fc.constantFrom(OWNERS[0], OWNERS[0], ...OWNERS);

const on = <Type extends Operation['type']>(type: Type) => ({ type: fc.constant(type), record });
const by = <Type extends Operation['type']>(type: Type) => ({ ...on(type), owner: holder });

const claim: fc.Arbitrary<OperationOf<'claim'>> = fc.record({
  ...on('claim'),
  owner: fc.constantFrom(...OWNERS),
  fingerprint: fc.constantFrom('x', 'x', 'x', 'x', 'y'),
  takeOverAbandoned: fc.constantFrom(true, true, false),
});

const complete: fc.Arbitrary<OperationOf<'complete'>> = fc.record({
  ...by('complete'),
  response: fc.constantFrom(...(Object.keys(RESPONSES) as ResponseName[])),
});

const recordSteps: fc.Arbitrary<OperationOf<'recordSteps'>> = fc.record({
  ...by('recordSteps'),
  steps: fc.constantFrom('{"charge":{}}', '{"charge":{},"mail":{}}'),
  inTransaction: fc.boolean(),
});

const release = fc.record(by('release'));
const lapseLease = fc.record(on('lapseLease'));
const endRetention = fc.record(on('endRetention'));

/** Kinds of operations, each as often as it occurs. */
export const KINDS: { weight: number; arbitrary: fc.Arbitrary<Operation> }[] = [
  { weight: 10, arbitrary: claim },
  { weight: 4, arbitrary: lapseLease },
  { weight: 3, arbitrary: complete },
  { weight: 3, arbitrary: recordSteps },
  { weight: 3, arbitrary: release },
  { weight: 3, arbitrary: fc.record(by('renew')) },
  { weight: 3, arbitrary: endRetention },
  { weight: 2, arbitrary: fc.record(on('releaseAbandoned')) },
  { weight: 2, arbitrary: fc.constant({ type: 'purge' }) },
  { weight: 1, arbitrary: fc.record(on('find')) },
  { weight: 1, arbitrary: fc.record(on('inspect')) },
];

const often = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 8 });
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 });

/** Brings the first record into one of its states. */
const history = fc
  .tuple(
    often(claim),
    sometimes(recordSteps),
    often(fc.oneof({ weight: 4, arbitrary: lapseLease }, complete, release)),
    fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, endRetention),
  )
  .map((operations) => operations.filter((each) => each !== null).map(ofFirst));

function ofFirst(operation: Exclude<Operation, { type: 'purge' }>): Operation {
  return { ...operation, record: 'first', ...('owner' in operation && { owner: OWNERS[0] }) } as Operation;
}

/** One operation among others that are under way. */
export interface Step {
  operation: Operation;
  /** Which of two processes does it. What one process does at the same time may share statements. */
  process: 0 | 1;
  /** Whether it begins in a turn of its own, and not as soon as the step before has ended. */
  hesitates: boolean;
  /** Whether others can meet its writes before they are committed. */
  lingers: boolean;
}

/** What happens one after the other, and then what several processes do beside each other. */
export interface Plan {
  before: Operation[];
  branches: Step[][];
}

const step = (operation: fc.Arbitrary<Operation>) =>
  fc.record<Step>({
    operation,
    process: fc.constantFrom(0, 0, 0, 1),
    hesitates: fc.boolean(),
    lingers: fc.boolean(),
  });

const branches = (operation: fc.Arbitrary<Operation>) =>
  fc.array(fc.array(step(operation), { minLength: 1, maxLength: 2 }), { minLength: 2, maxLength: 4 });

/** Each time of some kinds only, so that many operations of one kind meet as well. */
export const plan: fc.Arbitrary<Plan> = fc.record({
  before: history,
  branches: fc.subarray(KINDS, { minLength: 2, maxLength: 5 }).chain((kinds) => branches(fc.oneof(...kinds))),
});
