import fc from 'fast-check';
import { deepStrictEqual } from 'node:assert/strict';

import { KINDS } from './arbitraries.js';
import { describeOperation, OBSERVATION, type Operation } from './operation.js';
import { expected, type Records } from './reference-model.js';
import type { StoreUnderTest } from './store-under-test.js';

interface Model {
  records: Records;
}

/** Does the same to the model and to the store, which must answer alike. */
class Command implements fc.AsyncCommand<Model, StoreUnderTest> {
  constructor(private readonly operation: Operation) {}

  check(): boolean {
    return true;
  }

  async run(model: Model, store: StoreUnderTest): Promise<void> {
    const [answer, after] = expected(model.records, this.operation);
    deepStrictEqual(await store.perform(this.operation), answer, `Other answer: ${this.toString()}`);
    model.records = after;
  }

  toString(): string {
    return describeOperation(this.operation);
  }
}

/** Each kind as often as its weight says: these arbitraries are all drawn alike. */
export const commands = fc.commands<Model, StoreUnderTest, false>(
  KINDS.flatMap(({ weight, arbitrary }) =>
    Array.from({ length: weight }, () => arbitrary.map((operation) => new Command(operation))),
  ),
  { size: 'medium', maxCommands: 30 },
);

/** Each operation begins when the one before has been answered. */
export async function runCommands(
  store: StoreUnderTest,
  list: Iterable<fc.AsyncCommand<Model, StoreUnderTest>>,
): Promise<void> {
  await store.reset();
  const setup = { model: { records: {} }, real: store };
  await fc.asyncModelRun(() => setup, list);
  await fc.asyncModelRun(
    () => setup,
    OBSERVATION.map((operation) => new Command(operation)),
  );
}
