import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';

import { watchTimers } from '../support/active-handles.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { QUIET, watchLeftOvers } from '../support/left-overs.js';
import { expectProblem } from '../support/problem.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds of a lease, and of a transaction. */
const LIMIT = 1_500;

function standStill(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  let nothingIsLeft: () => Promise<void>;

  beforeAll(async () => {
    watchTimers();
    app = await startScriptedApp({
      ...QUIET,
      adapter,
      handler: { mode, lockTtl: LIMIT, transactionTimeout: LIMIT },
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await Promise.all([app.effects.clear(), app.records.clear()]);
    nothingIsLeft = watchLeftOvers(app);
  });

  const save = () => app.effects.save({ name: 'order' });

  it('nothing is left of a handler that blocks the event loop for longer than it may run', async () => {
    const answer = await app.run(async () => {
      await save();
      standStill(LIMIT + 1_000);
      return 'done';
    });
    await nothingIsLeft();

    if (mode === 'transaction') expectProblem(answer, 503, 'IDEMPOTENCY_NOT_COMMITTED');
    else expect(answer.text).toBe('done');
  });

  if (mode === 'lease') {
    it('nothing is left of a handler that has lost its lease to another process meanwhile', async () => {
      const key = newKey();
      const answer = await app.run(
        async () => {
          await app.records.update({ key }, { owner: randomUUID() });
          standStill(LIMIT);
          return 'done';
        },
        { key },
      );
      await nothingIsLeft();

      expectProblem(answer, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    });
  }

  // Under a lease it may take as long as it likes: see what a shutdown leaves.
  if (mode === 'transaction') {
    it('nothing is left of a handler that never settles, once its transaction has been open for long enough', async () => {
      const gate = new Gate();
      gate.close();
      const answer = await app.run(() => save().then(() => gate.pass()));
      await nothingIsLeft();
      // Only for the shutdown, which would wait for it.
      gate.open();

      expectProblem(answer, 503, 'IDEMPOTENCY_NOT_COMMITTED');
      expect(await app.effects.count()).toBe(0);
    });
  }
});
