import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { abandon } from '../support/abandoned-attempt.js';
import { closeClean } from '../support/clean-close.js';
import { newKey, type PostOptions } from '../support/idempotent-app.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode, onAbandoned: 'retry' } });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => app.records.clear());

  const keyOfStep = async (name: string, request: PostOptions): Promise<string> =>
    (await app.run(({ context }) => context.step(name, (stepKey) => stepKey), request)).text;

  it('the key of a step is of another intent another one, and none is the client’s own', async () => {
    const key = newKey();
    const ofKey = await keyOfStep('charge', { key });
    const ofOtherKey = await keyOfStep('charge', { key: newKey() });
    const ofOtherUser = await keyOfStep('charge', { key, headers: { 'X-User': 'other' } });
    const ofOtherStep = await keyOfStep('refund', { key: newKey() });

    expect(new Set([ofKey, ofOtherKey, ofOtherUser, ofOtherStep]).size).toBe(4);
    for (const stepKey of [ofKey, ofOtherKey, ofOtherUser, ofOtherStep]) {
      expect(stepKey).toMatch(/^[0-9a-f]{64}$/);
      expect(stepKey).not.toContain(key);
    }
  });

  it('steps of one intent have different keys, which deriveKey() gives without a step', async () => {
    const answer = await app.run(async ({ context }) => ({
      step: await context.step('one', (stepKey) => stepKey),
      transactional: await context.transactionalStep('two', (stepKey) => stepKey),
      derived: [context.deriveKey('one'), context.deriveKey('two'), context.deriveKey('one')],
      inside: await context.step('three', () => context.deriveKey('one')),
    }));
    const { step, transactional, derived, inside } = answer.json();

    expect(derived).toEqual([step, transactional, step]);
    expect(step).not.toBe(transactional);
    expect(inside).toBe(step);
  });

  it('a retry that executes after a failure has the same key as the attempt that failed', async () => {
    const key = newKey();
    const stepKeys: string[] = [];
    const charge: Script = async ({ context }) => {
      context.release();
      await context.step('charge', (stepKey) => {
        stepKeys.push(stepKey);
        throw new Error('refused before acting');
      });
    };
    await app.run(charge, { key });
    await app.post({ key });

    expect(stepKeys).toHaveLength(2);
    expect(new Set(stepKeys).size).toBe(1);
  });

  if (mode === 'lease') {
    it('an attempt that resumes has the same key as the one that died in the middle of the step', async () => {
      const stepKeys: string[] = [];
      const { key, revive } = await abandon(app, ({ context }, die) =>
        context.step('charge', (stepKey) => {
          stepKeys.push(stepKey);
          return die();
        }),
      );
      await app.run(({ context }) => context.step('charge', (stepKey) => stepKeys.push(stepKey)), { key });
      await revive();

      expect(stepKeys).toHaveLength(2);
      expect(new Set(stepKeys).size).toBe(1);
    });
  }
});
