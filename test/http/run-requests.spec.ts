import { IdempotencyKeyInvalidError, IdempotencyScopeUnresolvedError } from '@exactly-once/nestjs';
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

  it.each([[undefined], [''], [{}], [Number.NaN], ['a\0b']])(
    'a scope that names nobody (%p) is refused before anything is executed',
    async (scope) => {
      const error = await errorOf(runner.run(newKey(), () => runner.save(), { scope: scope as string }));

      expect(error).toBeInstanceOf(IdempotencyScopeUnresolvedError);
      expect(runner.executions()).toBe(0);
    },
  );

  it.each([[undefined], [''], ['x'.repeat(256)], ['ü'], ['a\nb'], [7]])(
    'a key that is none (%p) is refused before anything is executed',
    async (key) => {
      const error = await errorOf(runner.run(key as string, () => runner.save()));

      expect(error).toBeInstanceOf(IdempotencyKeyInvalidError);
      expect(runner.executions()).toBe(0);
    },
  );

  it.each([[undefined], [''], [7]])(
    'an operation that is none (%p) is refused before anything is executed',
    async (operation) => {
      const error = await errorOf(
        runner.run(newKey(), () => runner.save(), { operation: operation as string }),
      );

      expect(error).toHaveProperty('message', expect.stringMatching('operation'));
      expect(runner.executions()).toBe(0);
    },
  );

  it('an option that is misspelt or makes no sense is refused before anything is executed', async () => {
    const error = await errorOf(runner.run(newKey(), () => runner.save(), {}, { ttl: 'soon' as '1s' }));

    expect(error).toHaveProperty('message', expect.stringMatching('ttl'));
    expect(runner.executions()).toBe(0);
  });
});
