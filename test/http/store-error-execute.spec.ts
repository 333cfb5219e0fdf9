import { IdempotencyRecordUnreadableError, type IdempotentContext } from '@exactly-once/nestjs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { FaultyStore, startStoreApp, type StoreApp } from '../stores/store-app.js';
import { onEachAdapter } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';
import { startScriptedApp } from '../support/scripted-app.js';

const unreachable = () => Promise.reject(new Error('connection reset'));

onEachAdapter((adapter) => {
  describe("onStoreError: 'execute'", () => {
    let app: StoreApp;
    let store: FaultyStore;

    beforeEach(async () => {
      store = new FaultyStore();
      app = await startStoreApp({
        adapter,
        store,
        options: { onStoreError: 'execute', storeTimeout: '1s' },
      });
      app.handle(({ body }) => ({ paid: body.amount, executions: app.executions() }));
    });
    afterEach(() => {
      store.settle();
      return app.close();
    });

    const warnings = () =>
      app.log
        .messages('warn')
        .filter((message) => /could not claim a key of POST \/.*without protection/.test(message));

    it('each request is executed while the store fails, each with a warning, and none is called a replay', async () => {
      const key = newKey();
      store.onClaim = unreachable;
      const answers = [await app.post({ key }), await app.post({ key })];

      expect(answers.map(({ status, text }) => ({ status, text }))).toEqual([
        { status: 201, text: '{"paid":100,"executions":1}' },
        { status: 201, text: '{"paid":100,"executions":2}' },
      ]);
      for (const { headers } of answers) expect(headers).not.toHaveProperty('idempotent-replayed');
      expect(warnings()).toHaveLength(2);
      expect(store.size).toBe(0);
    });

    it('the context works as it does under a claim', async () => {
      store.onClaim = unreachable;
      const committed: string[] = [];
      let seen: IdempotentContext | undefined;
      const key = newKey();
      app.handle(async ({ context }) => {
        seen = context;
        context.afterCommit(() => void committed.push('sent'));
        return {
          step: await context.step('charge', (stepKey) => ({ stepKey })),
          derived: context.deriveKey('charge'),
        };
      });
      const answer = await app.post({ key });
      const { step, derived } = answer.json();

      expect(answer.status).toBe(201);
      expect(step.stepKey).toBe(derived);
      expect(seen).toMatchObject({ key, attempt: 1, mode: 'lease' });
      expect(seen!.signal.aborted).toBe(false);
      await eventually(() => expect(committed).toEqual(['sent']));
    });

    it('a handler may release what is not protected, and its afterCommit() is not run', async () => {
      store.onClaim = unreachable;
      const committed: string[] = [];
      app.handle(({ context, response }) => {
        context.afterCommit(() => void committed.push('sent'));
        context.release();
        response.status(503);
        return 'busy';
      });
      const answer = await app.post();

      expect({ status: answer.status, text: answer.text }).toEqual({ status: 503, text: 'busy' });
      expect(committed).toEqual([]);
    });

    it('a claim that was made although its answer was lost is given back in the background', async () => {
      const key = newKey();
      store.onClaim = async (claim) => {
        await claim();
        throw new Error('connection reset');
      };
      await app.post({ key });
      store.onClaim = undefined;
      await eventually(() => expect(store.size).toBe(0));
      const retried = await app.post({ key });

      expect(retried.json().executions).toBe(2);
      expectReplay(await app.post({ key }), retried);
    });

    it('a record that cannot be read is never executed over', async () => {
      store.onClaim = () => Promise.reject(new IdempotencyRecordUnreadableError(new Error('wrong version')));
      const refused = await app.post();

      expect(refused.json().code).toBe('IDEMPOTENCY_RECORD_UNREADABLE');
      expect(app.executions()).toBe(0);
      expect(warnings()).toEqual([]);
    });

    it('a store that answers protects as ever: one effect, 409, 422 and replay', async () => {
      const key = newKey();
      const gate = new Gate();
      gate.close();
      app.handle(() => gate.pass().then(() => 'done'));
      const answer = app.post({ key });
      await gate.arrival();
      expectProblem(await app.post({ key }), 409, 'IDEMPOTENCY_KEY_IN_USE');
      expectProblem(await app.post({ key, body: { amount: 7 } }), 422, 'IDEMPOTENCY_KEY_REUSED');
      gate.open();
      const first = await answer;

      expectReplay(await app.post({ key }), first);
      expect(app.executions()).toBe(1);
      expect(warnings()).toEqual([]);
    });

    it('run() executes too, with a warning, and each call may say otherwise', async () => {
      store.onClaim = unreachable;
      const request = { scope: null, operation: 'pay', key: newKey() };
      let executions = 0;
      const work = () => (executions += 1);

      expect(await app.service.run(request, work)).toBe(1);
      expect(app.log.messages('warn').join()).toMatch('could not claim a key of pay,');
      await expect(app.service.run(request, work, { onStoreError: 'refuse' })).rejects.toMatchObject({
        code: 'IDEMPOTENCY_STORE_UNAVAILABLE',
      });
      expect(executions).toBe(1);
    });

    it('a request whose claim fails while the app shuts down is not executed', async () => {
      let reject!: (error: Error) => void;
      const claiming = new Promise<void>((resolve) => {
        store.onClaim = () => {
          resolve();
          return new Promise((_, fail) => (reject = fail));
        };
      });
      const answer = app.post();
      await claiming;
      const closed = app.close();
      await new Promise((resolve) => setTimeout(resolve, 100));
      reject(new Error('connection reset'));
      expectProblem(await answer, 503, 'IDEMPOTENCY_SHUTTING_DOWN');
      await closed;

      expect(app.executions()).toBe(0);
    });
  });

  it("onStoreError: 'execute' means nothing in transaction mode: the request is refused", async () => {
    const app = await startScriptedApp({
      adapter,
      handler: { mode: 'transaction', onStoreError: 'execute', storeTimeout: '1s' },
    });
    try {
      await app.dataSource.query('ALTER TABLE idempotency_records RENAME TO elsewhere');
      const refused = await app.run(() => 'done');

      expectProblem(refused, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
      expect(app.executions()).toBe(0);
    } finally {
      await app.close();
    }
  });
});
