import {
  IdempotencyAttemptAbandonedError,
  IdempotencyLeaseLostError,
  IdempotencyNotCommittedError,
  IdempotencyService,
  IdempotencyShuttingDownError,
} from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeClean } from '../support/clean-close.js';
import { errorOf } from '../support/error-of.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey, startIdempotentApp } from '../support/idempotent-app.js';
import { lapseLease, recordedSteps } from '../support/lapsed-lease.js';
import { MODES } from '../support/replay.js';
import { startRunner, type Runner } from '../support/runner.js';

describe.each(MODES)('run() in %s mode', (mode) => {
  let runner: Runner;

  beforeAll(async () => {
    runner = await startRunner(mode);
  });
  afterAll(() => closeClean(runner));
  beforeEach(() => runner.reset());

  it('runs work after the commit when the value is recorded, and once', async () => {
    const key = newKey();
    const calls: unknown[] = [];
    const work = () =>
      runner.run(key, async (context) => {
        context.afterCommit(async () => calls.push(await runner.records.countBy({ key })));
        return (await runner.save()).name;
      });
    await work();
    await eventually(() => expect(calls).toHaveLength(1));
    await work();
    await sleep(200);

    expect(calls).toEqual([1]);
  });

  it('inside another attempt is an attempt of its own: what it did stays when the outer one is undone', async () => {
    const inner = newKey();
    const failing = runner.run(newKey(), async (context) => {
      await runner.save('outer');
      await runner.run(inner, () => runner.save('inner'));
      await runner.save('outer');
      context.release();
    });
    await failing;
    await runner.run(inner, () => runner.save('inner again'));
    const names = (await runner.effects.find({ order: { id: 'ASC' } })).map(({ name }) => name);

    expect(names).toEqual(mode === 'transaction' ? ['inner'] : ['outer', 'inner', 'outer']);
  });

  it('finishes at shutdown what it has begun, and begins nothing more', async () => {
    const app = await startIdempotentApp({ adapter: 'express', database: runner.database });
    const service = app.app.get(IdempotencyService);
    const gate = new Gate();
    gate.close();
    const running = service.run(
      { scope: null, operation: 'job', key: newKey() },
      async () => {
        await gate.pass();
        return (await app.effects.save({ name: 'job' })).name;
      },
      { mode },
    );
    await gate.arrival();
    const closing = app.close();
    const refused = await eventually(() =>
      errorOf(service.run({ scope: null, operation: 'job', key: newKey() }, () => 'begun', { mode })),
    );
    gate.open();

    expect(await running).toBe('job');
    await closing;
    expect(refused).toBeInstanceOf(IdempotencyShuttingDownError);
    expect((refused as IdempotencyShuttingDownError).retryAfter).toBe(1_000);
    expect(await runner.effects.count()).toBe(1);
  });
});

describe('run() in transaction mode', () => {
  let runner: Runner;

  beforeAll(async () => {
    runner = await startRunner('transaction');
  });
  afterAll(() => closeClean(runner));
  beforeEach(() => runner.reset());

  it('is told at once when its transaction was open for longer than transactionTimeout', async () => {
    const key = newKey();
    let late: Promise<unknown> | undefined;
    const error = await errorOf(
      runner.run(
        key,
        async () => {
          await runner.save('in time');
          late = sleep(1_000).then(() => errorOf(runner.save('late')));
          await late;
        },
        {},
        { transactionTimeout: '500ms' },
      ),
    );
    const again = await runner.run(key, async () => (await runner.save('again')).name);

    expect(error).toBeInstanceOf(IdempotencyNotCommittedError);
    expect(again).toBe('again');
    expect(await late).toHaveProperty('name', 'QueryFailedError');
    expect((await runner.effects.find()).map(({ name }) => name)).toEqual(['again']);
  });

  it('throws IdempotencyNotCommittedError when its transaction could not be committed', async () => {
    const error = await errorOf(
      runner.run(newKey(), () => runner.dataSource.query('SELECT 1 / 0').catch(() => 'done')),
    );

    expect(error).toBeInstanceOf(IdempotencyNotCommittedError);
  });
});

describe('run() in lease mode', () => {
  let runner: Runner;

  beforeAll(async () => {
    runner = await startRunner('lease');
  });
  afterAll(() => closeClean(runner));
  beforeEach(() => runner.reset());

  /** A call that dies after its first step; `revive()` lets it go on. */
  async function abandon(key: string) {
    const gate = new Gate();
    gate.close();
    const stale = runner.run(key, async (context) => {
      await context.step('charge', () => 'charged by the first');
      await gate.pass();
      return context.step('mail', () => 'sent by the first');
    });
    await gate.arrival();
    await lapseLease(runner, key);
    return {
      revive: () => {
        gate.open();
        return stale;
      },
    };
  }

  it('throws IdempotencyAttemptAbandonedError for a key whose attempt died, and a late end still counts', async () => {
    const key = newKey();
    const { revive } = await abandon(key);
    const error = await errorOf(runner.run(key, () => 'again'));

    expect(error).toBeInstanceOf(IdempotencyAttemptAbandonedError);
    expect(await revive()).toBe('sent by the first');
    expect(await runner.run(key, () => 'again')).toBe('sent by the first');
    expect(runner.executions()).toBe(1);
  });

  it(`resumes such an attempt where onAbandoned is 'retry', with the results of its steps`, async () => {
    const key = newKey();
    const { revive } = await abandon(key);
    const resumed = await runner.run(
      key,
      async (context) => [
        context.attempt,
        await context.step('charge', () => 'charged by the second'),
        await context.step('mail', () => 'sent by the second'),
      ],
      {},
      { onAbandoned: 'retry' },
    );

    expect(resumed).toEqual([2, 'charged by the first', 'sent by the second']);
    expect(await recordedSteps(runner, key)).toMatchObject({ mail: { result: 'sent by the second' } });
    // Its own step was refused; what the second one recorded is the value of the key.
    expect(await revive()).toEqual(resumed);
  });

  it('is told that it lost its lease while the one that took over still executes', async () => {
    const key = newKey();
    const { revive } = await abandon(key);
    const gate = new Gate();
    gate.close();
    const second = runner.run(
      key,
      async () => {
        await gate.pass();
        return 'done by the second';
      },
      {},
      { onAbandoned: 'retry' },
    );
    await gate.arrival();
    const error = await errorOf(revive());
    gate.open();

    expect(error).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
    expect(error).not.toBeInstanceOf(IdempotencyLeaseLostError);
    expect(await second).toBe('done by the second');
  });
});
