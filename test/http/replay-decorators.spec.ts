import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Header, HttpCode, Post, Redirect, Render, Res } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, expectSameAnswer, onEachAdapterInEachMode } from '../support/replay.js';

/** The same handlers with and without the library. */
function controllerFor(path: string, decorator: MethodDecorator) {
  @Controller(path)
  class DecoratedController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('passthrough')
    @decorator
    async passthrough(@Res({ passthrough: true }) response: any) {
      response.status(202);
      response.header('X-Step', 'before');
      await this.effects.save({ name: path });
      response.header('X-Other', 'after');
      return { passed: 'through' };
    }

    @Post('passthrough-without-content')
    @HttpCode(204)
    @decorator
    async passthroughWithoutContent(@Res({ passthrough: true }) response: any) {
      await this.effects.save({ name: path });
      response.header('X-Step', 'only');
    }

    @Post('redirect')
    @Redirect('/elsewhere', 303)
    @decorator
    async redirect() {
      await this.effects.save({ name: path });
    }

    @Post('redirect-to-result')
    @Redirect('/never', 302)
    @decorator
    async redirectToResult() {
      await this.effects.save({ name: path });
      return { url: '/orders/1', statusCode: 307 };
    }

    @Post('header')
    @Header('Cache-Control', 'no-store')
    @Header('X-Decorated', 'yes')
    @decorator
    async header() {
      await this.effects.save({ name: path });
      return { header: 'set' };
    }

    @Post('header-replaced')
    @Header('X-Decorated', 'by the decorator')
    @decorator
    async headerReplaced(@Res({ passthrough: true }) response: any) {
      await this.effects.save({ name: path });
      response.header('X-Decorated', 'by the handler');
      return { header: 'replaced' };
    }

    @Post('view')
    @Render('receipt')
    @decorator
    async view() {
      await this.effects.save({ name: path });
      return { customer: 'Ada' };
    }
  }
  return DecoratedController;
}

/** A template that cannot do without its model, as templates usually cannot. */
class ReceiptView {
  readonly path = 'receipt';

  render(model: { customer?: string }, done: (error: unknown, text?: string) => void): void {
    if (model.customer === undefined) {
      done(new ReferenceError('customer is not defined'));
    } else {
      done(null, `<p>Receipt for ${model.customer}</p>`);
    }
  }
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    const controllers = [
      controllerFor('plain', () => undefined),
      controllerFor('idempotent', Idempotent({ mode })),
    ];
    app = await startIdempotentApp({
      adapter,
      controllers,
      configure: (nest) => {
        if (adapter === 'express') (nest as NestExpressApplication).set('view', ReceiptView);
      },
    });
  });
  afterAll(() => app.close());
  beforeEach(() => app.effects.clear());

  async function twice(path: string) {
    const key = newKey();
    const first = await app.post({ key, path: `/idempotent/${path}` });
    const second = await app.post({ key, path: `/idempotent/${path}` });
    expect(await app.effects.count()).toBe(1);
    expectSameAnswer(first, await app.post({ path: `/plain/${path}` }));
    expectReplay(second, first);
    const { 'idempotent-replayed': _mark, ...headers } = second.headers;
    expectSameAnswer({ ...second, headers }, first);
    return second;
  }

  it('C4: status and headers set through @Res({ passthrough: true }) are replayed', async () => {
    const replay = await twice('passthrough');

    expect(replay.status).toBe(202);
    expect(replay.headers).toMatchObject({ 'x-step': 'before', 'x-other': 'after' });
    expect(replay.json()).toEqual({ passed: 'through' });
  });

  it('C2, C4: a 204 with headers set through @Res({ passthrough: true }) is replayed', async () => {
    const replay = await twice('passthrough-without-content');

    expect(replay.status).toBe(204);
    expect(replay.headers).toMatchObject({ 'x-step': 'only' });
    expect(replay.body).toHaveLength(0);
  });

  it('C4: a redirect by @Redirect() is replayed', async () => {
    const replay = await twice('redirect');

    expect(replay.status).toBe(303);
    expect(replay.headers.location).toBe('/elsewhere');
  });

  it('C4: a redirect to what the handler has returned is replayed', async () => {
    const replay = await twice('redirect-to-result');

    expect(replay.status).toBe(307);
    expect(replay.headers.location).toBe('/orders/1');
  });

  it('C6: headers of @Header() are there in the replay, once', async () => {
    const replay = await twice('header');

    expect(replay.headers).toMatchObject({ 'cache-control': 'no-store', 'x-decorated': 'yes' });
  });

  it('C6: a header of @Header() that the handler replaced is replayed as it was sent', async () => {
    const replay = await twice('header-replaced');

    expect(replay.headers['x-decorated']).toBe('by the handler');
  });

  if (adapter === 'express') {
    it('C4: a page of @Render() is replayed without rendering it again', async () => {
      app.log.clear();
      const replay = await twice('view');

      expect(replay.text).toBe('<p>Receipt for Ada</p>');
      expect(app.log.messages('error')).toEqual([]);
    });
  }
});
