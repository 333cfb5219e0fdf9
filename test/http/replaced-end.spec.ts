import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { newKey } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const TEXT = 'Zoë paid 3 €';

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  const seen: unknown[] = [];

  beforeAll(async () => {
    app = await startScriptedApp({
      adapter,
      handler: { mode },
      configure: (nest) => {
        nest.use((_request: unknown, response: any, next: () => void) => {
          const { end } = response;
          // As some loggers do: what came with the text is not passed on.
          response.end = function (chunk: unknown) {
            seen.push(chunk);
            return end.call(this, chunk);
          };
          next();
        });
      },
    });
  });
  afterAll(() => app.close());

  it('a replaced `end()` that passes on nothing but the text changes no byte, and sees the text', async () => {
    const key = newKey();
    const first = await app.run(() => ({ text: TEXT }), { key });
    const second = await app.post({ key });

    expect(first.json()).toEqual({ text: TEXT });
    expectReplay(second, first);
    expect(seen.map(String)).toEqual([first.text, first.text]);
  });
});
