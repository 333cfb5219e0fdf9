import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, Header, Post, Res } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

interface HeaderSetter {
  header(name: string, value: string): unknown;
}

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  @Idempotent({ mode, replayHeaders: { deny: ['X-Quota'] } })
  class DocumentsController {
    static calls = 0;

    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('sized')
    @Idempotent({ maxResponseBytes: '1kb' })
    @Header('Content-Type', 'text/plain')
    async sized(@Body() { size }: { size: number }) {
      await this.effects.save({ name: 'document' });
      return 'x'.repeat(size);
    }

    @Post('default')
    @Idempotent({ replayHeaders: {} })
    byDefault(@Res({ passthrough: true }) response: HeaderSetter) {
      return this.count(response);
    }

    @Post('denied')
    denied(@Res({ passthrough: true }) response: HeaderSetter) {
      return this.count(response);
    }

    @Post('allowed')
    @Idempotent({ replayHeaders: { allow: ['X-Request-ID', 'access-control-expose-headers'] } })
    allowed(@Res({ passthrough: true }) response: HeaderSetter) {
      return this.count(response);
    }

    private count(response: HeaderSetter) {
      DocumentsController.calls += 1;
      const { calls } = DocumentsController;
      response.header('X-Quota', `${calls} of 100`);
      response.header('X-Request-Id', `request ${calls}`);
      response.header('Access-Control-Expose-Headers', `X-Quota, X-${calls}`);
      return { calls };
    }
  }
  return DocumentsController;
}

onEachAdapterInEachMode((adapter, mode) => {
  const controller = controllerFor(mode);
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [controller] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    controller.calls = 0;
    await app.effects.clear();
    await app.records.clear();
  });

  it('maxResponseBytes: a response of that size is replayed', async () => {
    const key = newKey();
    const request = { key, path: '/sized', body: { size: 1024 } };
    const first = await app.post(request);

    expect(first.text).toBe('x'.repeat(1024));
    expectReplay(await app.post(request), first);
    expect(await app.effects.count()).toBe(1);
  });

  it('maxResponseBytes: a larger one is sent, is not stored, and is never executed again', async () => {
    const key = newKey();
    const request = { key, path: '/sized', body: { size: 1025 } };
    const first = await app.post(request);
    const second = await app.post(request);

    expect(first.status).toBe(201);
    expect(first.text).toBe('x'.repeat(1025));
    expectProblem(second, 409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE');
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.find()).toMatchObject([{ key, status: null, body: null }]);
  });

  const replayOf = async (path: string) => {
    const key = newKey();
    const first = await app.post({ key, path });
    const second = await app.post({ key, path });
    expect(first.headers).toMatchObject({
      'x-quota': '1 of 100',
      'x-request-id': 'request 1',
      'access-control-expose-headers': 'X-Quota, X-1',
    });
    expectReplay(second, first);
    expect(controller.calls).toBe(1);
    return second.headers;
  };

  it('replayHeaders: by default what the handler has set is replayed, unless it is about one request', async () => {
    const headers = await replayOf('/default');

    expect(headers).toMatchObject({ 'x-quota': '1 of 100' });
    expect(headers).not.toHaveProperty('x-request-id');
    expect(headers).not.toHaveProperty('access-control-expose-headers');
  });

  it('replayHeaders: a denied header is neither stored nor replayed', async () => {
    const headers = await replayOf('/denied');
    const [record] = await app.records.find();

    expect(headers).not.toHaveProperty('x-quota');
    expect(record!.headers).not.toMatch(/quota/i);
  });

  it('replayHeaders: an allowed header is replayed although it is about one request', async () => {
    const headers = await replayOf('/allowed');

    expect(headers).toMatchObject({
      'x-request-id': 'request 1',
      'access-control-expose-headers': 'X-Quota, X-1',
    });
  });
});
