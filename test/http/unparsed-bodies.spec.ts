import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Post, type INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import type { AdapterName } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { multipart } from '../support/multipart.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  @Idempotent({ mode })
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    create() {
      return this.effects.save({ name: 'order' });
    }

    @Post('selected')
    @Idempotent({
      fingerprint: (_body, context) => context.switchToHttp().getRequest().headers['content-md5'],
    })
    selected() {
      return this.effects.save({ name: 'order' });
    }
  }
  return OrdersController;
}

/** As `@fastify/multipart` does it: the body is left to the handler. */
function leaveToHandlers(app: INestApplication): void {
  const fastify = (app as NestFastifyApplication).getHttpAdapter().getInstance();
  fastify.removeContentTypeParser('text/plain');
  fastify.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  fastify.addContentTypeParser('application/x-stream', (_request, payload, done) => done(null, payload));
}

function parseText(adapter: AdapterName, app: INestApplication): void {
  const types = ['text/plain', 'application/xml', 'application/vnd.orders+json'];
  if (adapter === 'express') {
    (app as NestExpressApplication).useBodyParser('text', { type: types });
    (app as NestExpressApplication).useBodyParser('raw', { type: 'application/octet-stream' });
    return;
  }
  const fastify = (app as NestFastifyApplication).getHttpAdapter().getInstance();
  fastify.removeContentTypeParser('text/plain');
  fastify.addContentTypeParser(types, { parseAs: 'string' }, (_request, body, done) => done(null, body));
  fastify.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
}

const typed = (type: string, body: string) => ({ body, headers: { 'Content-Type': type } });

onEachAdapterInEachMode((adapter, mode) => {
  describe('where nothing parses a body', () => {
    let app: IdempotentApp;

    beforeAll(async () => {
      app = await startIdempotentApp({
        adapter,
        controllers: [controllerFor(mode)],
        configure: adapter === 'fastify' ? leaveToHandlers : () => undefined,
      });
    });
    afterAll(() => app.close());
    beforeEach(async () => {
      await app.effects.clear();
      await app.records.clear();
      app.log.clear();
    });

    it.each([
      ['application/xml', typed('application/xml', '<order amount="100"/>')],
      ['text/plain', typed('text/plain', 'amount=100')],
      ['application/vnd.orders+json', typed('application/vnd.orders+json', '{"amount":100}')],
      ['application/octet-stream', typed('application/octet-stream', '\u0001\u0002')],
      ['multipart/form-data', multipart([{ name: 'amount', content: '100' }])],
      ...(adapter === 'fastify'
        ? [['application/x-stream', typed('application/x-stream', '100')] as const]
        : []),
    ])(
      'C19: %s is answered with 500 before the handler, and the log says what to do',
      async (type, request) => {
        const whole = await app.post(request);
        const headers = { ...request.headers, 'Transfer-Encoding': 'chunked' };
        const chunked = await app.post({ ...request, headers });

        for (const answer of [whole, chunked]) {
          expectProblem(answer, 500, 'IDEMPOTENCY_BODY_UNPARSED');
        }
        expect(await app.effects.count()).toBe(0);
        expect(await app.records.count()).toBe(0);
        const [message] = app.log.messages('error');
        expect(message).toMatch(`OrdersController.create (${type})`);
        expect(message).toMatch(/Register a body parser.*FileInterceptor.*`fingerprint`/s);
      },
    );

    it('C19: a request without a body needs no parser', async () => {
      const key = newKey();
      const first = await app.post({ key, body: '' });

      expect(first.status).toBe(201);
      expectReplay(await app.post({ key, body: '' }), first);
      expect(await app.effects.count()).toBe(1);
    });

    it('C19: the fingerprint option says in place of the body what counts', async () => {
      const key = newKey();
      const post = (digest: string, body: string) =>
        app.post({
          key,
          path: '/selected',
          body,
          headers: { 'Content-Type': 'application/xml', 'Content-MD5': digest },
        });
      const first = await post('one', '<order/>');

      expect(first.status).toBe(201);
      expectReplay(await post('one', '<order/>'), first);
      expectProblem(await post('two', '<order/>'), 422, 'IDEMPOTENCY_KEY_REUSED');
      expect(await app.effects.count()).toBe(1);
    });
  });

  describe('where a parser has read the text', () => {
    let app: IdempotentApp;

    beforeAll(async () => {
      app = await startIdempotentApp({
        adapter,
        controllers: [controllerFor(mode)],
        configure: (nest) => parseText(adapter, nest),
      });
    });
    afterAll(() => app.close());
    beforeEach(() => app.effects.clear());

    it.each(['application/xml', 'text/plain', 'application/vnd.orders+json', 'application/octet-stream'])(
      'C19: another body of %s is refused, and a retry is replayed',
      async (type) => {
        const key = newKey();
        const first = await app.post({ key, ...typed(type, 'amount=100') });
        const other = await app.post({ key, ...typed(type, 'amount=900') });

        expect(first.status).toBe(201);
        expectProblem(other, 422, 'IDEMPOTENCY_KEY_REUSED');
        expectReplay(await app.post({ key, ...typed(type, 'amount=100') }), first);
        expect(await app.effects.count()).toBe(1);
      },
    );
  });
});
