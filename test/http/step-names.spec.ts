import { IdempotencyStepError } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { closeClean } from '../support/clean-close.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  let calls: string[];

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode } });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => {
    calls = [];
  });

  /** What the handler ends in, when it ends in an error. */
  async function errorOf(script: Script): Promise<unknown> {
    let error: unknown;
    const answer = await app.run(async (input) => {
      try {
        await script(input);
      } catch (cause) {
        error = cause;
        throw cause;
      }
    });
    expect(answer.status).toBe(500);
    return error;
  }

  describe.each(['step', 'transactionalStep'] as const)('%s()', (kind) => {
    it('with the name of one before in the same attempt is refused, and its work is not done', async () => {
      const error = await errorOf(async ({ context }) => {
        await context.step('charge', () => calls.push('first'));
        await context[kind]('charge', () => calls.push('second'));
      });

      expect(error).toBeInstanceOf(IdempotencyStepError);
      expect(String(error)).toMatch(`The step 'charge' was begun twice in one attempt`);
      expect(calls).toEqual(['first']);
    });

    it('with the name of one that still runs is refused', async () => {
      const error = await errorOf(({ context }) =>
        Promise.all([
          context.step('charge', () => calls.push('first')),
          context[kind]('charge', () => calls.push('second')),
        ]),
      );

      expect(error).toBeInstanceOf(IdempotencyStepError);
      expect(calls).toEqual(['first']);
    });

    it.each(['step', 'transactionalStep'] as const)('inside a %s() is refused', async (outer) => {
      const error = await errorOf(({ context }) =>
        context[outer]('outer', async () => {
          calls.push('outer');
          await context[kind]('inner', () => calls.push('inner'));
        }),
      );

      expect(error).toBeInstanceOf(IdempotencyStepError);
      expect(String(error)).toMatch(`The step 'inner' was begun inside the step 'outer'`);
      expect(calls).toEqual(['outer']);
    });

    it('after another one is not inside it', async () => {
      const answer = await app.run(async ({ context }) => {
        await context.step('one', () => calls.push('one'));
        return context[kind]('two', () => calls.push('two'));
      });

      expect(answer.status).toBe(201);
      expect(calls).toEqual(['one', 'two']);
    });

    it.each([[''], [undefined], [7], [{}]])('named %p is refused', async (name) => {
      const error = await errorOf(({ context }) => context[kind](name as string, () => calls.push('ran')));

      expect(error).toBeInstanceOf(IdempotencyStepError);
      expect(String(error)).toMatch('A step needs a name');
      expect(calls).toEqual([]);
    });
  });

  it('a refused use leaves the other steps of the attempt alone', async () => {
    const answer = await app.run(async ({ context }) => {
      const outer = await context.step('outer', async () => {
        await context.step('inner', () => 1).catch(() => undefined);
        return 'outer';
      });
      return [outer, await context.step('inner', () => 'inner')];
    });

    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual(['outer', 'inner']);
  });
});
