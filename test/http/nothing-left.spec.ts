import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { StreamableFile } from '@nestjs/common';
import { Readable } from 'node:stream';

import { watchTimers } from '../support/active-handles.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { QUIET, watchLeftOvers } from '../support/left-overs.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  let nothingIsLeft: () => Promise<void>;

  beforeAll(async () => {
    watchTimers();
    app = await startScriptedApp({ ...QUIET, adapter, handler: { mode } });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await Promise.all([app.effects.clear(), app.records.clear()]);
    nothingIsLeft = watchLeftOvers(app);
  });

  const save = () => app.effects.save({ name: 'order' });

  it('nothing is left of a request, its duplicate, another one with its key, and its replay', async () => {
    const key = newKey();
    const gate = new Gate();
    gate.close();
    const first = app.run(() => gate.pass().then(save), { key });
    await gate.arrival();
    const others = [await app.post({ key }), await app.post({ key, body: { amount: 7 } })];
    gate.open();
    await first;
    others.push(await app.post({ key }));
    await nothingIsLeft();

    expect(others.map(({ status }) => status)).toEqual([409, 422, 201]);
  });

  it('C4: nothing is left of a request that was answered twice', async () => {
    const key = newKey();
    const first = await app.run(
      async ({ response }) => {
        await save();
        response.send('first');
        return 'second';
      },
      { key },
    );
    const second = await app.post({ key });
    await nothingIsLeft();

    expect([first.text, second.text]).toEqual(['first', 'first']);
  });

  it('C4: nothing is left of a request whose handler answers and then throws', async () => {
    const answer = await app.run(async ({ response }) => {
      response.send('answer');
      await save();
      throw new Error('out of luck');
    });
    await nothingIsLeft();

    expect(answer.status).toBe(mode === 'transaction' ? 500 : 201);
  });

  it('C41: nothing is left of a stream that breaks, before its first bytes or after', async () => {
    const sources: Readable[] = [];
    const breaking = (...lines: string[]) => {
      const source = Readable.from(
        (async function* () {
          yield* lines;
          await save();
          throw new Error('out of paper');
        })(),
      );
      sources.push(source);
      return new StreamableFile(source);
    };
    await app.run(() => breaking()).catch(() => undefined);
    await app.run(() => breaking('one', 'two')).catch(() => undefined);
    await nothingIsLeft();

    expect(sources.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });
});
