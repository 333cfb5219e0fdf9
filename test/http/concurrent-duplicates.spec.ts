import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import type { HttpResponse } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** The answers of one key: one executed, and the others were told to wait or got its result. */
function expectOneIntent(answers: HttpResponse[], replay: HttpResponse) {
  expect(replay.headers['idempotent-replayed']).toBe('true');
  for (const { status, body, ...answer } of answers) {
    expect([201, 409]).toContain(status);
    if (status === 201) expect(body.equals(replay.body)).toBe(true);
    else expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
  }
  const executed = answers.filter(({ status, headers }) => status === 201 && !headers['idempotent-replayed']);
  expect(executed).toHaveLength(1);
}

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({ adapter, handler: { mode } });
    });
    afterAll(() => closeClean(app));
    beforeEach(async () => {
      await Promise.all([app.effects.clear(), app.records.clear()]);
      app.handle(async ({ body }) => {
        const effect = await app.effects.save({ name: body.name });
        await sleep(10);
        return effect;
      });
    });

    it('fifty requests at once with one new key have one effect', async () => {
      const request = { key: newKey(), body: { name: 'order' } };
      const answers = await Promise.all(Array.from({ length: 50 }, () => app.post(request)));

      expectOneIntent(answers, await app.post(request));
      expect(app.executions()).toBe(1);
      expect(await app.effects.count()).toBe(1);
      expect(await app.records.count()).toBe(1);
    });

    it('twenty keys, five times each, at once, have twenty effects', async () => {
      const requests = Array.from({ length: 20 }, (_, index) => ({
        key: newKey(),
        body: { name: `order ${index}` },
      }));
      const fiveTimes = Array.from({ length: 5 }, () => requests).flat();
      const answers = await Promise.all(fiveTimes.map((request) => app.post(request)));

      for (const [index, request] of requests.entries()) {
        const own = answers.filter((_, position) => position % requests.length === index);
        expectOneIntent(own, await app.post(request));
      }
      expect(app.executions()).toBe(20);
      expect(await app.effects.count()).toBe(20);
    });
  });
});
