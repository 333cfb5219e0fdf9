import type fc from 'fast-check';

import type { Plan, Step } from './arbitraries.js';
import { type Call, describeCalls, isLinearizable } from './linearization.js';
import { describeOperation, OBSERVATION, type Operation } from './operation.js';
import type { StoreUnderTest } from './store-under-test.js';
import { Turns } from './turns.js';

/** One execution of a plan. */
export class ConcurrentRun {
  private readonly calls: Call[] = [];
  private readonly turns: Turns | undefined;
  private time = 0;

  /** @param scheduler without it, everything goes as fast as it can */
  constructor(
    private readonly store: StoreUnderTest,
    scheduler?: fc.Scheduler,
  ) {
    this.turns = scheduler && new Turns(scheduler, store);
  }

  /** @throws when the model cannot explain the answers */
  async execute({ before, branches }: Plan): Promise<void> {
    await this.store.reset();
    await this.oneAfterTheOther(before);
    const end = Promise.all(branches.map((steps) => this.branch(steps)));
    await this.turns?.giveUntil(end);
    await end;
    await this.oneAfterTheOther(OBSERVATION);
    if (!isLinearizable(this.calls)) {
      throw new Error(`No order of these operations explains their answers:\n${describeCalls(this.calls)}`);
    }
  }

  private async oneAfterTheOther(operations: Operation[]): Promise<void> {
    for (const operation of operations) {
      await this.call(operation, () => this.store.perform(operation));
    }
  }

  private async branch(steps: Step[]): Promise<void> {
    for (const step of steps) {
      await (this.turns ? this.inTurns(step, this.turns) : this.atOnce(step));
    }
  }

  private async inTurns(step: Step, turns: Turns): Promise<void> {
    const label = describeOperation(step.operation);
    if (step.hesitates) await turns.take(label);
    await turns.run(label, step.lingers, () => this.atOnce(step));
  }

  private atOnce({ operation, process }: Step): Promise<void> {
    return this.call(operation, () => this.store.perform(operation, process));
  }

  private async call(operation: Operation, work: () => Promise<unknown>): Promise<void> {
    const begun = (this.time += 1);
    const answer = await work().catch((error: unknown) => `failed: ${String(error)}`);
    this.calls.push({ operation, begun, ended: (this.time += 1), answer });
  }
}
