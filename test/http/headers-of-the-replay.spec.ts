import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post, Res, type NestInterceptor } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InjectRepository } from '@nestjs/typeorm';
import { tap } from 'rxjs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

let requests = 0;

const setAll = (set: (name: string, value: string) => void, origin: string): void => {
  set('X-Request-Id', `${origin} ${requests}`);
  set('X-RateLimit-Remaining', String(100 - requests));
  set('Set-Cookie', `session=${requests}`);
};

/** Sets its headers when the handler is done, that is: also when there was a replay. */
const labels: NestInterceptor = {
  intercept: (context, next) =>
    next.handle().pipe(
      tap(() => {
        const response = context.switchToHttp().getResponse();
        setAll((name, value) => response.header(name, value), 'interceptor');
      }),
    ),
};

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class LabelsController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('value')
    @Idempotent({ mode })
    async value(@Res({ passthrough: true }) response: any) {
      requests += 1;
      await this.effects.save({ name: 'value' });
      response.header('Location', '/orders/1');
      return { done: true };
    }

    @Post('res')
    @Idempotent({ mode })
    async res(@Res() response: any) {
      requests += 1;
      await this.effects.save({ name: 'res' });
      setTimeout(() => response.header('Location', '/orders/1').send('done'), 20);
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [LabelsController],
      configure: (nest) => {
        nest.useGlobalInterceptors(labels);
        if (adapter === 'fastify') {
          const fastify = (nest as NestFastifyApplication).getHttpAdapter().getInstance();
          fastify.addHook('onSend', async (_request, reply) => {
            reply.header('X-Correlation-Id', `hook ${requests}`);
          });
        }
      },
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    requests = 0;
    await app.effects.clear();
    await app.records.clear();
  });

  it('C6: what is set around the handler for each request is there in a replay, and fresh', async () => {
    const key = newKey();
    const first = await app.post({ key, path: '/value' });
    requests = 7;
    const second = await app.post({ key, path: '/value' });

    expectReplay(second, first);
    expect(first.headers).toMatchObject({ 'x-request-id': 'interceptor 1', location: '/orders/1' });
    expect(second.headers).toMatchObject({
      'x-request-id': 'interceptor 7',
      'x-ratelimit-remaining': '93',
      'set-cookie': ['session=7'],
      location: '/orders/1',
    });
    const [record] = await app.records.find();
    expect(record!.headers).not.toMatch(/request-id|ratelimit|session/i);
  });

  if (adapter === 'fastify') {
    it.each(['/value', '/res'])(
      'C6: what a hook of Fastify sets for each answer is fresh in a replay of %s',
      async (path) => {
        const key = newKey();
        const first = await app.post({ key, path });
        requests = 7;
        const second = await app.post({ key, path });

        expectReplay(second, first);
        expect(first.headers['x-correlation-id']).toBe('hook 1');
        expect(second.headers['x-correlation-id']).toBe('hook 7');
      },
    );
  }
});
