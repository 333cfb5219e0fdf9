import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post, Res, UseInterceptors, type NestInterceptor } from '@nestjs/common';

import { onEachAdapter } from '../support/adapters.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';

/** As libraries for response times do it: the header is set when the head is written, not before. */
function setHeaderLate(response: any): void {
  const raw = response.raw ?? response;
  const { writeHead } = raw;
  raw.writeHead = function (...args: unknown[]) {
    raw.setHeader('X-Late', 'set');
    return writeHead.apply(raw, args);
  };
}

const late: NestInterceptor = {
  intercept: (context, next) => {
    setHeaderLate(context.switchToHttp().getResponse());
    return next.handle();
  },
};

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  @Controller()
  class LateController {
    @Post('interceptor')
    @Idempotent()
    @UseInterceptors(late)
    inInterceptor() {
      return { order: 1 };
    }

    @Post('handler')
    @Idempotent()
    inHandler(@Res({ passthrough: true }) response: unknown) {
      setHeaderLate(response);
      return { order: 1 };
    }
  }

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [LateController] });
  });
  afterAll(() => app.close());

  it.each(['/interceptor', '/handler'])(
    'a header that is set when the head is written (%s) is sent, recorded and replayed',
    async (path) => {
      const key = newKey();
      const first = await app.post({ path, key });
      const second = await app.post({ path, key });

      expect(first.headers['x-late']).toBe('set');
      expect(second.headers['x-late']).toBe('set');
      expectReplay(second, first);
    },
  );
});
