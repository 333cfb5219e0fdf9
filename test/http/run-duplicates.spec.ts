import { IdempotencyKeyInUseError, IdempotencyKeyReusedError } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeClean } from '../support/clean-close.js';
import { errorOf } from '../support/error-of.js';
import { Gate } from '../support/gate.js';
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

  describe('beside another call', () => {
    const gate = new Gate();
    let running: Promise<unknown>;
    let key: string;

    beforeEach(async () => {
      key = newKey();
      gate.close();
      running = runner.run(
        key,
        async () => {
          await gate.pass();
          return (await runner.save()).name;
        },
        { fingerprint: { amount: 1 } },
      );
      await gate.arrival();
    });

    it('with the key of one that executes throws IdempotencyKeyInUseError', async () => {
      const error = await errorOf(runner.run(key, () => 'second', { fingerprint: { amount: 1 } }));
      gate.open();

      expect(error).toBeInstanceOf(IdempotencyKeyInUseError);
      expect(await running).toBe('order');
      expect(runner.executions()).toBe(1);
    });

    it('waits for it where inFlight says so, and gets its value', async () => {
      const waiting = runner.run(
        key,
        () => 'second',
        { fingerprint: { amount: 1 } },
        { inFlight: { wait: '10s' } },
      );
      await sleep(300);
      gate.open();

      expect(await waiting).toBe('order');
      expect(runner.executions()).toBe(1);
    });

    it('waits no longer than inFlight says', async () => {
      const waiting = runner.run(
        key,
        () => 'second',
        { fingerprint: { amount: 1 } },
        { inFlight: { wait: '300ms' } },
      );
      const error = await errorOf(waiting);
      gate.open();
      await running;

      expect(error).toBeInstanceOf(IdempotencyKeyInUseError);
    });

    it('with another fingerprint throws IdempotencyKeyReusedError, also when the first has ended', async () => {
      const early = await errorOf(runner.run(key, () => 'second', { fingerprint: { amount: 2 } }));
      gate.open();
      await running;
      const late = await errorOf(runner.run(key, () => 'second', { fingerprint: { amount: 2 } }));
      const without = await errorOf(runner.run(key, () => 'second'));

      expect(early).toBeInstanceOf(IdempotencyKeyReusedError);
      expect(late).toBeInstanceOf(IdempotencyKeyReusedError);
      expect(without).toBeInstanceOf(IdempotencyKeyReusedError);
      expect(await runner.run(key, () => 'second', { fingerprint: { amount: 1 } })).toBe('order');
      expect(runner.executions()).toBe(1);
    });
  });

  it('calls of other scopes, operations and keys are other intents', async () => {
    const key = newKey();
    await runner.run(key, () => runner.save());
    await runner.run(key, () => runner.save(), { scope: 'refunds' });
    await runner.run(key, () => runner.save(), { operation: 'invoice-void' });
    await runner.run(newKey(), () => runner.save());
    await runner.run(key, () => runner.save(), { scope: null });

    expect(await runner.effects.count()).toBe(5);
  });

  it('a number as the scope is the same as its text', async () => {
    const key = newKey();
    await runner.run(key, () => runner.save(), { scope: 42 });
    await runner.run(key, () => runner.save(), { scope: '42' });

    expect(await runner.effects.count()).toBe(1);
  });
});
