import { IdempotencyRecordedFailureError } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpException } from '@nestjs/common';

import { closeClean } from '../support/clean-close.js';
import { errorOf } from '../support/error-of.js';
import { newKey } from '../support/idempotent-app.js';
import { MODES } from '../support/replay.js';
import { startRunner, type Runner } from '../support/runner.js';

describe.each(MODES)('run() whose work fails, in %s mode', (mode) => {
  let runner: Runner;

  beforeAll(async () => {
    runner = await startRunner(mode);
  });
  afterAll(() => closeClean(runner));
  beforeEach(() => runner.reset());

  it('a final refusal is recorded: later calls get an error that tells what it was', async () => {
    const key = newKey();
    const first = await errorOf(
      runner.run(key, async () => {
        await runner.save();
        throw new HttpException('the invoice is void', 409);
      }),
    );
    const second = await errorOf(runner.run(key, () => runner.save()));

    expect(first).toBeInstanceOf(HttpException);
    expect(second).toBeInstanceOf(IdempotencyRecordedFailureError);
    expect(second).toMatchObject({
      status: 409,
      originalName: 'HttpException',
      originalMessage: 'the invoice is void',
    });
    expect(String(second)).toMatch('the invoice is void');
    expect(runner.executions()).toBe(1);
    expect(await runner.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
  });

  it(`any other error is ${mode === 'lease' ? 'recorded: the effect may have happened' : 'rolled back: a later call executes'}`, async () => {
    const key = newKey();
    const failing = runner.run(key, async () => {
      await runner.save();
      throw new RangeError('out of luck');
    });
    const first = await errorOf(failing);
    const second = await runner
      .run(key, async () => (await runner.save('again')).name)
      .catch((error: unknown) => error);

    expect(first).toBeInstanceOf(RangeError);
    if (mode === 'transaction') {
      expect(second).toBe('again');
      expect((await runner.effects.find()).map(({ name }) => name)).toEqual(['again']);
    } else {
      expect(second).toMatchObject({
        status: 500,
        originalName: 'RangeError',
        originalMessage: 'out of luck',
      });
      expect(await runner.effects.count()).toBe(1);
    }
  });

  it('an error whose status is 200 is still an error for later calls', async () => {
    const key = newKey();
    const first = await errorOf(
      runner.run(key, () => {
        throw new HttpException('no content for you', 200);
      }),
    );
    const second = await errorOf(runner.run(key, () => 'again'));

    expect(first).toBeInstanceOf(HttpException);
    expect(second).toMatchObject({ originalMessage: 'no content for you' });
  });

  it('what is not an Error is thrown as it is, and told to later calls where it is recorded', async () => {
    const key = newKey();
    const first = await errorOf(runner.run(key, () => Promise.reject('just a text')));
    const second = await runner.run(key, () => 'again').catch((error: unknown) => error);

    expect(first).toBe('just a text');
    if (mode === 'transaction') expect(second).toBe('again');
    else expect(second).toMatchObject({ originalMessage: 'just a text' });
  });
});
