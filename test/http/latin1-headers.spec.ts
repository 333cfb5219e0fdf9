import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { sendRaw } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode } });
  });
  afterAll(() => app.close());

  /** The answer, one character for each byte. */
  const post = (key: string): Promise<string> =>
    sendRaw(
      app.url,
      `POST / HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );

  it.each(['plain text', 'Zoë'])(
    'a header line beyond ASCII keeps its bytes beside the body "%s"',
    async (text) => {
      app.handle(({ response }) => {
        const raw = response.raw ?? response;
        raw.setHeader('X-Name', 'Zo\u00eb');
        raw.end(Buffer.from(text));
      });
      const key = newKey();
      const first = await post(key);
      const second = await post(key);

      for (const answer of [first, second]) {
        expect(answer).toMatch(/\r\nx-name: Zo\u00eb\r\n/i);
        expect(Buffer.from(answer, 'latin1').toString()).toContain(text);
      }
      expect(second).toContain('Idempotent-Replayed: true');
    },
  );
});
