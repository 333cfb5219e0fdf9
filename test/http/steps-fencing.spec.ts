import { IdempotencyLeaseLostError } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { abandon } from '../support/abandoned-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Gate } from '../support/gate.js';
import { lapseLease, recordedSteps } from '../support/lapsed-lease.js';
import { expectProblem } from '../support/problem.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapter((adapter) => {
  describe('an attempt that another one has taken over', () => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({ adapter, handler: { mode: 'lease', onAbandoned: 'retry' } });
    });
    afterAll(() => closeClean(app));
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    it.each(['step', 'transactionalStep'] as const)(
      'cannot record a %s(): it is stopped there, and its client is told to ask again',
      async (kind) => {
        const gate = new Gate();
        let error: unknown;
        let wentOn = false;
        const { key, revive } = await abandon(app, async ({ context }, die) => {
          await die();
          await context[kind]('charge', () => 'by the stale one').catch((cause: unknown) => {
            error = cause;
            throw cause;
          });
          wentOn = true;
        });
        gate.close();
        const resuming = app.run(
          async ({ context }) => {
            await context.step('reserve', () => 'by the new one');
            await gate.pass();
            return context.step('charge', () => 'by the new one');
          },
          { key },
        );
        await gate.arrival();
        const stale = await revive();
        const meanwhile = await recordedSteps(app, key);
        gate.open();
        const resumed = await resuming;

        expectProblem(stale, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
        expect(stale.headers['retry-after']).toBe('1');
        expect(error).toBeInstanceOf(IdempotencyLeaseLostError);
        expect(wentOn).toBe(false);
        expect(meanwhile).toEqual({ reserve: { result: 'by the new one' } });
        expect(resumed.status).toBe(201);
        expect(resumed.text).toBe('by the new one');
      },
    );

    it('is refused although the new one has finished, and its client gets the result of that one', async () => {
      const { key, revive } = await abandon(app, async ({ context }, die) => {
        await die();
        return context.step('charge', () => 'by the stale one');
      });
      const resumed = await app.run(({ context }) => context.step('charge', () => 'by the new one'), { key });
      const stale = await revive();

      expect(resumed.text).toBe('by the new one');
      expect(stale.body.equals(resumed.body)).toBe(true);
      expect(stale.status).toBe(201);
      expect(await recordedSteps(app, key)).toEqual({ charge: { result: 'by the new one' } });
    });

    it('loses the rows of its transactionalStep() with it, and those of the new one stay', async () => {
      const reserve = (name: string) => async () => (await app.effects.save({ name })).name;
      const { key, revive } = await abandon(app, async ({ context }, die) => {
        await die();
        return context.transactionalStep('reserve', reserve('by the stale one'));
      });
      const resumed = await app.run(
        ({ context }) => context.transactionalStep('reserve', reserve('by the new one')),
        { key },
      );
      await revive();

      expect(resumed.text).toBe('by the new one');
      expect((await app.effects.find()).map(({ name }) => name)).toEqual(['by the new one']);
    });

    it('in the middle of a transactionalStep() does not keep the new one waiting, and loses its rows', async () => {
      const { key, revive } = await abandon(app, async ({ context }, die) =>
        context.transactionalStep('reserve', async () => {
          await app.effects.save({ name: 'by the stale one' });
          await die();
        }),
      );
      const resumed = await app.run(
        ({ context }) =>
          context.transactionalStep('reserve', () => app.effects.save({ name: 'by the new one' })),
        { key },
      );
      const stale = await revive();

      expect(resumed.status).toBe(201);
      expect(stale.body.equals(resumed.body)).toBe(true);
      expect((await app.effects.find()).map(({ name }) => name)).toEqual(['by the new one']);
    });

    it('cannot record a step in a record that was freed and claimed anew', async () => {
      const { key, revive } = await abandon(app, async ({ context }, die) => {
        await context.step('reserve', () => 'by the stale one');
        await die();
        return context.step('charge', () => 'by the stale one');
      });
      await app.records.delete({ key });
      const resumed = await app.run(({ context }) => context.step('reserve', () => 'by the new one'), {
        key,
      });
      await revive();

      expect(resumed.text).toBe('by the new one');
      expect(await recordedSteps(app, key)).toEqual({ reserve: { result: 'by the new one' } });
    });
  });

  it('an attempt whose lease has lapsed and whom nobody has followed still records its steps', async () => {
    const app = await startScriptedApp({ adapter, handler: { mode: 'lease', onAbandoned: 'retry' } });
    const { key, revive } = await abandon(app, async ({ context }, die) => {
      await die();
      await lapseLease(app, key);
      return context.step('charge', () => 'charged');
    });
    const answer = await revive();

    expect(answer.status).toBe(201);
    expect(await recordedSteps(app, key)).toEqual({ charge: { result: 'charged' } });
    await closeClean(app);
  });
});
