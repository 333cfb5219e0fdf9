import { IdempotencyResponseUnavailableError, type IdempotentContext } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { closeClean } from '../support/clean-close.js';
import { errorOf } from '../support/error-of.js';
import { newKey } from '../support/idempotent-app.js';
import { MODES } from '../support/replay.js';
import { startRunner, type Runner } from '../support/runner.js';

describe.each(MODES)('run() in %s mode', (mode) => {
  let runner: Runner;

  beforeAll(async () => {
    runner = await startRunner(mode);
  });
  afterAll(() => closeClean(runner));
  beforeEach(() => runner.reset());

  it('executes the work once and gives its value to every later call', async () => {
    const key = newKey();
    const first = await runner.run(key, async () => ({ ...(await runner.save()), tags: ['a', null] }));
    const second = await runner.run(key, () => runner.save());

    expect(first).toEqual({ id: expect.any(Number), name: 'order', tags: ['a', null] });
    expect(second).toStrictEqual(first);
    expect(runner.executions()).toBe(1);
    expect(await runner.effects.count()).toBe(1);
  });

  it.each<[what: string, value: unknown, given: unknown]>([
    ['undefined', undefined, undefined],
    ['null', null, null],
    ['false', false, false],
    ['an empty text', '', ''],
    ['text of any kind', '"\u0000\ud83d\ude00\\ü', '"\u0000\ud83d\ude00\\ü'],
    ['a date, as its text', new Date(0), '1970-01-01T00:00:00.000Z'],
    [
      'an object that looks like an error',
      { name: 'Error', message: 'none' },
      { name: 'Error', message: 'none' },
    ],
  ])('%s is given to the first call as to the later ones', async (_, value, given) => {
    const key = newKey();

    expect(await runner.run(key, () => value)).toStrictEqual(given);
    expect(await runner.run(key, () => 'another')).toStrictEqual(given);
  });

  it('the work knows the attempt that it runs in', async () => {
    const key = newKey();
    let context!: IdempotentContext;
    await runner.run(key, (given) => {
      context = given;
      expect(runner.service.context).toBe(given);
    });

    expect(context).toMatchObject({ key, scope: 'invoices', operation: 'invoice-paid', attempt: 1, mode });
    expect(runner.service.context).toBeUndefined();
  });

  it('a value that is not JSON is an error, and never one that a later call would not get', async () => {
    const error = await errorOf(runner.run(newKey(), () => ({ amount: 10n })));

    expect(error).toBeInstanceOf(TypeError);
  });

  it('a value larger than maxResponseBytes is given once, and later calls hear that it is not kept', async () => {
    const key = newKey();
    const first = await runner.run(key, () => 'x'.repeat(2_000), {}, { maxResponseBytes: '1kb' });
    const error = await errorOf(runner.run(key, () => 'again', {}, { maxResponseBytes: '1kb' }));

    expect(first).toHaveLength(2_000);
    expect(error).toBeInstanceOf(IdempotencyResponseUnavailableError);
    expect(runner.executions()).toBe(1);
  });

  it('release() and nothing else frees the key after a value', async () => {
    const key = newKey();
    const first = await runner.run(key, async (context) => {
      context.release();
      return (await runner.save()).name;
    });
    const second = await runner.run(key, async () => (await runner.save('again')).name);

    expect([first, second]).toEqual(['order', 'again']);
    expect(await runner.effects.count()).toBe(mode === 'transaction' ? 1 : 2);
  });
});
