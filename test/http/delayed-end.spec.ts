import { Idempotent, IdempotencyModule, InMemoryIdempotencyStore } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post, Res } from '@nestjs/common';

import { onEachAdapter } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { send } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';

@Controller()
class WorkController {
  private count = 0;

  @Post('returned')
  @Idempotent()
  async returned() {
    this.count += 1;
    return { count: this.count };
  }

  @Post('sent')
  @Idempotent()
  sent(@Res() response: any) {
    this.count += 1;
    response.status(202).send({ count: this.count });
  }
}

onEachAdapter((adapter) => {
  let app: TestApp;

  beforeAll(async () => {
    // A store that answers at once: what it delays would hide what comes between.
    const store = new InMemoryIdempotencyStore();
    app = await startApp({
      adapter,
      imports: [IdempotencyModule.forRoot({ scope: false, store })],
      controllers: [WorkController],
      configure: (nest) => {
        nest.use((_request: unknown, response: any, next: () => void) => {
          const { end } = response;
          // As for a session that is saved first.
          response.end = function (...args: unknown[]) {
            setTimeout(() => end.apply(this, args), 50);
            return this;
          };
          next();
        });
      },
    });
  });
  afterAll(() => app.close());

  it.each(['/returned', '/sent'])(
    'an `end()` that waits sends a whole answer and replay: %s',
    async (path) => {
      const headers = { 'Idempotency-Key': newKey() };
      const first = await send(app.url, { path, headers, body: {} });
      const second = await send(app.url, { path, headers, body: {} });

      expect(first.json()).toEqual({ count: expect.any(Number) });
      expectReplay(second, first);
    },
  );
});
