import { IdempotencyStepError } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { abandon } from '../support/abandoned-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { recordedSteps } from '../support/lapsed-lease.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

class Charge {
  constructor(
    readonly id: number,
    private readonly secret: string,
  ) {}

  toJSON() {
    return { id: this.id, isSecretKnown: this.secret !== '' };
  }
}

const circular: unknown[] = [];
circular.push(circular);

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode: 'lease', onAbandoned: 'retry' } });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => app.records.clear());

  it.each<[what: string, result: unknown, given: unknown]>([
    ['undefined', undefined, undefined],
    ['null', null, null],
    ['false', false, false],
    ['an empty text', '', ''],
    ['text of any kind', '"\u0000\ud83d\ude00\\ü', '"\u0000\ud83d\ude00\\ü'],
    ['a date, as its text', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an object with toJSON()', new Charge(1, 'x'), { id: 1, isSecretKnown: true }],
    ['a function, which JSON does not have', () => 1, null],
    ['nested values', { a: [1, { b: null, c: undefined }], d: NaN }, { a: [1, { b: null }], d: null }],
    ['names that objects have anyway', { toString: 1, ['__proto__']: 2 }, { toString: 1, ['__proto__']: 2 }],
  ])('%s is given to the attempt that made it as to the one that resumes', async (_, result, given) => {
    const results: unknown[] = [];
    const step: Script = async ({ context }) => {
      results.push(await context.step('make', () => result));
    };
    const { key, revive } = await abandon(app, async (input, die) => {
      await step(input);
      await die();
    });
    const second = await app.run(step, { key });
    await revive();

    expect(second.status).toBe(201);
    expect(results).toStrictEqual([given, given]);
  });

  it('names that objects have anyway are names of steps like any other', async () => {
    const names = ['__proto__', 'constructor', 'toString', '0', ' ', 'ü'];
    const steps: Script = async ({ context }) => {
      const results: string[] = [];
      for (const name of names) {
        results.push(await context.step(name, () => `${context.attempt} ${name}`));
      }
      return results;
    };
    const { key, revive } = await abandon(app, async (input, die) => {
      await steps(input);
      await die();
    });
    const second = await app.run(steps, { key });
    await revive();

    expect(second.json()).toEqual(names.map((name) => `1 ${name}`));
  });

  it('what the handler does to a result that it was given does not change what is recorded', async () => {
    const { key, revive } = await abandon(app, async ({ context }, die) => {
      const charge = await context.step('charge', () => ({ amount: 100, lines: ['a'] }));
      charge.amount = 0;
      charge.lines.push('b');
      await context.step('mail', () => 'sent');
      await die();
    });
    const second = await app.run(({ context }) => context.step('charge', () => ({})), { key });
    await revive();

    expect(second.json()).toEqual({ amount: 100, lines: ['a'] });
  });

  it('an error of the work comes out of the step as it is, with its own answer', async () => {
    class DeclinedError extends Error {
      getStatus = () => 402;
    }
    const declined = new DeclinedError();
    let caught: unknown;
    await app.run(({ context }) =>
      context
        .step('charge', () => {
          throw declined;
        })
        .catch((error: unknown) => (caught = error)),
    );

    expect(caught).toBe(declined);
  });

  it('results that are too large together are refused, and the steps before stay recorded', async () => {
    let error: unknown;
    const key = newKey();
    await app.run(
      async ({ context }) => {
        await context.step('half', () => 'x'.repeat(600_000));
        await context.step('rest', () => 'x'.repeat(600_000)).catch((cause: unknown) => (error = cause));
      },
      { key },
    );

    expect(error).toBeInstanceOf(IdempotencyStepError);
    expect(String(error)).toMatch(/step 'rest' is too large.*1048576 bytes.*`maxResponseBytes`/s);
    expect(Object.keys((await recordedSteps(app, key))!)).toEqual(['half']);
  });
});

onEachAdapterInEachMode((adapter, mode) => {
  describe('a result that cannot be recorded', () => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({ adapter, handler: { mode, maxResponseBytes: '1kb' } });
    });
    afterAll(() => closeClean(app));
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    describe.each(['step', 'transactionalStep'] as const)('of a %s()', (kind) => {
      it.each<[what: string, result: unknown, message: RegExp]>([
        ['is circular', circular, /The result of the step 'make' is not JSON/],
        ['has a BigInt', { amount: 10n }, /The result of the step 'make' is not JSON/],
        ['is too large', 'x'.repeat(1_024), /The result of the step 'make' is too large/],
      ])('that %s is refused with an error that says so', async (_, result, message) => {
        let error: unknown;
        const answer = await app.run(async ({ context }) => {
          await context[kind]('make', () => result).catch((cause: unknown) => (error = cause));
          throw error;
        });

        expect(error).toBeInstanceOf(IdempotencyStepError);
        expect(String(error)).toMatch(message);
        expect(answer.status).toBe(500);
      });
    });

    it.each([
      ['too large', 'x'.repeat(1_024)],
      ['not JSON', circular],
    ])('%s takes the rows of its transactionalStep() with it', async (_, result) => {
      const answer = await app.run(async ({ context }) => {
        await context
          .transactionalStep('reserve', async () => {
            await app.effects.save({ name: 'reservation' });
            return result;
          })
          .catch(() => undefined);
        await app.effects.save({ name: 'order' });
      });

      expect(answer.status).toBe(201);
      expect((await app.effects.find()).map(({ name }) => name)).toEqual(['order']);
    });
  });
});
