import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let calls: string[];

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode: 'transaction' } });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => {
    calls = [];
    return Promise.all([app.effects.clear(), app.records.clear()]);
  });

  const save = (name: string) => async () => {
    calls.push(name);
    return (await app.effects.save({ name })).name;
  };

  it('steps of a transaction run once, and commit with it', async () => {
    const key = newKey();
    const first = await app.run(
      async ({ context }) => [
        await context.step('order', save('order')),
        await context.transactionalStep('lines', save('lines')),
        await context.step('nothing', () => undefined),
      ],
      { key },
    );
    const second = await app.post({ key });

    expect(first.json()).toEqual(['order', 'lines', null]);
    expectReplay(second, first);
    expect(calls).toEqual(['order', 'lines']);
    expect((await app.effects.find()).map(({ name }) => name)).toEqual(['order', 'lines']);
    expect(await app.records.findOneByOrFail({ key })).toMatchObject({ steps: null, attempt: 1 });
  });

  it('a transaction that is rolled back takes its steps with it, and the retry runs them again', async () => {
    const key = newKey();
    const work: Script = async ({ context }) => {
      await context.step('order', save('order'));
      await context.transactionalStep('lines', save('lines'));
      if (calls.length === 2) throw new Error('a fault that passes');
      return 'done';
    };
    const first = await app.run(work, { key });
    const left = await app.effects.count();
    const second = await app.post({ key });

    expect(first.status).toBe(500);
    expect(left).toBe(0);
    expect(second.text).toBe('done');
    expect(calls).toEqual(['order', 'lines', 'order', 'lines']);
    expect(await app.effects.count()).toBe(2);
  });

  it('transactionalStep()s that run beside each other do not take each other’s rows', async () => {
    const answer = await app.run(async ({ context }) => {
      const settled = await Promise.allSettled([
        context.transactionalStep('left', save('left')),
        context.transactionalStep('failing', async () => {
          await save('failing')();
          throw new Error('failed');
        }),
        context.transactionalStep('right', save('right')),
      ]);
      return settled.map(({ status }) => status);
    });

    expect(answer.json()).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await app.effects.find()).map(({ name }) => name)).toEqual(['left', 'right']);
  });
});
