import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

function rawOf(response: any): ServerResponse {
  return response.raw ?? response;
}

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class WrappingController {
    @Post('proxy')
    @Idempotent({ mode })
    proxy(@Res() response: any): void {
      const raw = rawOf(response);
      this.answer(raw, new Proxy(raw, {}));
    }

    @Post('derived')
    @Idempotent({ mode })
    derived(@Res() response: any): void {
      const raw = rawOf(response);
      this.answer(raw, Object.create(raw));
    }

    @Post('kept')
    @Idempotent({ mode })
    async kept(@Res() response: any): Promise<void> {
      const raw = rawOf(response);
      const { setHeader, end } = raw;
      this.answer(raw, raw);
      // Long after the answer has left, as a time-out of somebody's would.
      setTimeout(() => {
        expect(() => setHeader.call(raw, 'x-late', '1')).toThrow('after they are sent');
        (end as () => void).call(raw);
      }, 200);
    }

    private answer(raw: ServerResponse, response: ServerResponse): void {
      raw.setHeader('x-quota', '7');
      response.write('one ');
      response.end('two');
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [WrappingController] });
  });
  afterAll(() => app.close());
  beforeEach(() => app.records.clear());

  it.each(['/proxy', '/derived', '/kept'])(
    'an answer through a wrapped response is recorded: %s',
    async (path) => {
      const key = newKey();
      const first = await app.post({ path, key });
      await sleep(path === '/kept' ? 400 : 0);
      const second = await app.post({ path, key });

      expect(first.text).toBe('one two');
      expect(first.headers['x-quota']).toBe('7');
      expectReplay(second, first);
    },
  );
});
