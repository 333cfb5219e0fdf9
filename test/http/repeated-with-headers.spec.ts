import { Idempotent } from '@exactly-once/nestjs';
import { expect, it } from '@jest/globals';
import { Controller, Post, Res, type NestInterceptor } from '@nestjs/common';
import { retry } from 'rxjs';

import { newKey, startIdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

const again: NestInterceptor = { intercept: (_context, next) => next.handle().pipe(retry(3)) };

onEachAdapterInEachMode((adapter, mode) => {
  it('a global interceptor may repeat a handler several times, which sets headers each time', async () => {
    let calls = 0;
    const events: string[] = [];

    @Controller()
    class RepeatedController {
      @Post()
      @Idempotent({ mode })
      run(@Res({ passthrough: true }) response: any) {
        calls += 1;
        (response.raw ?? response).setHeader('x-call', String(calls));
        if (calls < 3) throw new Error('short outage');
        return { calls };
      }
    }

    const app = await startIdempotentApp({
      adapter,
      controllers: [RepeatedController],
      configure: (nest) => {
        nest.useGlobalInterceptors(again);
        nest.use((_request: unknown, response: any, next: () => void) => {
          for (const event of ['finish', 'close']) response.on(event, () => events.push(event));
          next();
        });
      },
    });
    const key = newKey();
    const first = await app.post({ key });
    const second = await app.post({ key });
    await app.close();

    expect(first.status).toBe(201);
    expect(first.json()).toEqual({ calls: 3 });
    expect(first.headers['x-call']).toBe('3');
    expectReplay(second, first);
    expect(calls).toBe(3);
    expect(events).toEqual(['finish', 'close', 'finish', 'close']);
  });
});
