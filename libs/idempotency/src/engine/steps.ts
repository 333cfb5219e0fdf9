import { AsyncLocalStorage } from 'node:async_hooks';
import { IdempotencyStepError } from '../errors/step.errors.js';
import { asJson } from './json-result.js';

/** The step that the running code belongs to. */
const currentStep = new AsyncLocalStorage<{ readonly steps: Steps; readonly name: string }>();

type Results = Record<string, { readonly result?: unknown }>;

/** How the results of steps are kept. */
export interface StepRecorder {
  /** @returns once the text is durable; rejects when it may not be */
  record(steps: string): Promise<void>;
  /** Runs `work` in a transaction that commits with the text. */
  recordWith<T>(work: () => Promise<T>, stepsAfter: (result: T) => string): Promise<T>;
}

/** The steps of one attempt: which are done, by this attempt or an earlier one, and with what result. */
export class Steps {
  private readonly done: Results;
  private readonly used = new Set<string>();
  private writing: Promise<unknown> = Promise.resolve();

  /**
   * @param recorded what earlier attempts have recorded
   * @param maxBytes of all results together
   */
  constructor(
    private readonly recorder: StepRecorder,
    recorded: string | null,
    private readonly maxBytes: number,
  ) {
    this.done = Object.assign(Object.create(null), recorded === null ? {} : JSON.parse(recorded)) as Results;
  }

  /** The method is called, for the first time or again: it may name each step once. */
  methodBegins(): void {
    this.used.clear();
  }

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.once(name, async () => {
      const result = resultOf(name, await this.inside(name, work));
      // One after the other: each text holds all results, and an older one must not come last.
      await this.inTurn(() => {
        const text = this.textWith(name, result);
        return this.recorder.record(text).then(() => this.keep(name, result));
      });
      return result;
    });
  }

  runInTransaction<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.once(name, () =>
      this.inTurn(async () => {
        let result: T;
        await this.recorder.recordWith(
          () => this.inside(name, work),
          (returned) => {
            result = resultOf(name, returned);
            return this.textWith(name, result);
          },
        );
        this.keep(name, result!);
        return result!;
      }),
    );
  }

  private async once<T>(name: string, execute: () => Promise<T>): Promise<T> {
    this.refuseWrongUse(name);
    this.used.add(name);
    const done = this.done[name];
    return done ? (asJson(done.result) as T) : execute();
  }

  private refuseWrongUse(name: string): void {
    const outer = currentStep.getStore();
    if (outer?.steps === this) {
      throw new IdempotencyStepError(
        `The step '${name}' was begun inside the step '${outer.name}'. After a crash the outer one would be repeated as a ` +
          `whole; run them one after the other.`,
      );
    }
    if (typeof name !== 'string' || name === '') {
      throw new IdempotencyStepError('A step needs a name, which is the same in every attempt.');
    }
    if (this.used.has(name)) {
      throw new IdempotencyStepError(
        `The step '${name}' was begun twice in one attempt, and would get the first one's result. Give each a name of its own.`,
      );
    }
  }

  private inside<T>(name: string, work: () => Promise<T>): Promise<T> {
    return currentStep.run({ steps: this, name }, work);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.writing.then(work);
    this.writing = turn.catch(() => undefined);
    return turn;
  }

  private textWith(name: string, result: unknown): string {
    const text = JSON.stringify({ ...this.done, [name]: { result } });
    if (Buffer.byteLength(text) > this.maxBytes) {
      throw new IdempotencyStepError(
        `The result of the step '${name}' is too large to be recorded: all steps of an attempt may have ` +
          `${this.maxBytes} bytes together (\`maxResponseBytes\`). Return what later steps need, and no more.`,
      );
    }
    return text;
  }

  private keep(name: string, result: unknown): void {
    // A copy, since the handler may change what it was given.
    this.done[name] = { result: asJson(result) };
  }
}

/** What an attempt that resumes would get: the first one gets the same. */
function resultOf<T>(name: string, returned: T): T {
  try {
    return asJson(returned);
  } catch (cause) {
    throw new IdempotencyStepError(`The result of the step '${name}' is not JSON.`, { cause });
  }
}
