import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { abandon } from '../support/abandoned-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { endRetention, lapseLease, recordedSteps } from '../support/lapsed-lease.js';
import { expectReplay } from '../support/replay.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  /** What was really done, in this order. */
  let calls: string[];

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode: 'lease', onAbandoned: 'retry' } });
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    calls = [];
    await app.records.clear();
  });

  const call = <T>(name: string, result: T) => {
    calls.push(name);
    return result;
  };

  it('the result of a step is recorded before the handler goes on, and stays with the record', async () => {
    const key = newKey();
    let during: unknown;
    const first = await app.run(
      async ({ context }) => {
        const charge = await context.step('charge', () => call('charge', { id: 7 }));
        during = await recordedSteps(app, key);
        return { charge };
      },
      { key },
    );
    const second = await app.post({ key });

    expect(first.json()).toEqual({ charge: { id: 7 } });
    expect(during).toEqual({ charge: { result: { id: 7 } } });
    expect(await recordedSteps(app, key)).toEqual(during);
    expectReplay(second, first);
    expect(calls).toEqual(['charge']);
  });

  it('an attempt that resumes gets the results of finished steps without running them, and runs the rest', async () => {
    const { key, revive } = await abandon(app, async ({ context }, die) => {
      await context.step('charge', () => call('charge', { id: 41 }));
      await die();
    });
    const resumed = await app.run(
      async ({ context }) => {
        const charge = await context.step('charge', () => call('charge', { id: 42 }));
        const mail = await context.step('mail', async () => call('mail', { to: charge.id }));
        return { charge, mail, attempt: context.attempt };
      },
      { key },
    );
    const replayed = await app.post({ key });
    const late = await revive();

    expect(resumed.status).toBe(201);
    expect(resumed.json()).toEqual({ charge: { id: 41 }, mail: { to: 41 }, attempt: 2 });
    expect(calls).toEqual(['charge', 'mail']);
    expectReplay(replayed, resumed);
    expect(late.body.equals(resumed.body)).toBe(true);
  });

  it('steps of three attempts add up, in whatever order the last one asks for them', async () => {
    const first = await abandon(app, async ({ context }, die) => {
      await context.step('one', () => call('one', 1));
      await die();
    });
    const second = await abandon(
      app,
      async ({ context }, die) => {
        await context.step('two', () => call('two', 2));
        await die();
      },
      first.key,
    );
    const third = await app.run(
      async ({ context }) => [
        await context.step('three', () => call('three', 3)),
        await context.step('two', () => call('two again', -2)),
        await context.step('one', () => call('one again', -1)),
        context.attempt,
      ],
      { key: first.key },
    );
    await Promise.all([first.revive(), second.revive()]);

    expect(third.json()).toEqual([3, 2, 1, 3]);
    expect(calls).toEqual(['one', 'two', 'three']);
  });

  it('a step whose work throws is not recorded, and an attempt that resumes runs it again', async () => {
    const { key, revive } = await abandon(app, async ({ context }, die) => {
      await context.step('reserve', () => call('reserve', 'reserved'));
      const failing = context.step('charge', () => {
        calls.push('charge');
        throw new Error('declined');
      });
      await expect(failing).rejects.toThrow('declined');
      await die();
    });
    const before = await recordedSteps(app, key);
    const resumed = await app.run(
      async ({ context }) => [
        await context.step('reserve', () => call('reserve', 'again')),
        await context.step('charge', () => call('charge', 'charged')),
      ],
      { key },
    );
    await revive();

    expect(before).toEqual({ reserve: { result: 'reserved' } });
    expect(resumed.json()).toEqual(['reserved', 'charged']);
    expect(calls).toEqual(['reserve', 'charge', 'charge']);
  });

  it('two steps that run beside each other are both recorded', async () => {
    const both: Script = ({ context }) =>
      Promise.all([
        context.step('left', async () => call('left', 'l')),
        context.step('right', async () => call('right', 'r')),
        context.transactionalStep('middle', async () => call('middle', (await app.effects.find()).length)),
      ]);
    const { key, revive } = await abandon(app, async (input, die) => {
      await both(input);
      await die();
    });
    const recorded = await recordedSteps(app, key);
    const resumed = await app.run(both, { key });
    await revive();

    expect(recorded).toEqual({ left: { result: 'l' }, right: { result: 'r' }, middle: { result: 0 } });
    expect(resumed.json()).toEqual(['l', 'r', 0]);
    expect(calls.toSorted()).toEqual(['left', 'middle', 'right']);
  });

  it('after a deploy that changed the list of steps, new ones run and removed ones are ignored', async () => {
    const { key, revive } = await abandon(app, async ({ context }, die) => {
      await context.step('charge', () => call('charge', 1));
      await context.step('fax', () => call('fax', 2));
      await die();
    });
    const resumed = await app.run(
      async ({ context }) => [
        await context.step('check', () => call('check', 3)),
        await context.step('charge', () => call('charge', 4)),
      ],
      { key },
    );
    await revive();

    expect(resumed.json()).toEqual([3, 1]);
    expect(calls).toEqual(['charge', 'fax', 'check']);
  });

  it('a key that executes anew after its retention has no steps of the time before', async () => {
    const key = newKey();
    const charge: Script = ({ context }) => context.step('charge', () => calls.push('charge'));
    const first = await app.run(charge, { key });
    await lapseLease(app, key);
    await endRetention(app, key);
    const second = await app.run(charge, { key });

    expect(first.text).toBe('1');
    expect(second.text).toBe('2');
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(calls).toEqual(['charge', 'charge']);
    expect(await recordedSteps(app, key)).toEqual({ charge: { result: 2 } });
  });
});
