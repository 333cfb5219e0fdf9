import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Param, Post, Req, Res } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import express from 'express';
import { ServerResponse } from 'node:http';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

const inside = express();
inside.post('*any', (_request, response) => {
  response.status(202).set('X-Inside', '1').json({ by: 'inside' });
});

type Answer = (response: any, request: any) => unknown;

/** What handlers do with Node's own response, and what the client sees of it. */
const ANSWERS: Record<string, { status: number; text: string; give: Answer }> = {
  'an Express app': {
    status: 202,
    text: '{"by":"inside"}',
    give: (response, request) => inside(request, response),
  },
  'another prototype': {
    status: 201,
    text: 'x',
    give: (response) => {
      Object.setPrototypeOf(response, Object.create(ServerResponse.prototype));
      response.end('x');
    },
  },
  'a borrowed method': {
    status: 201,
    text: 'x',
    give: (response) => (ServerResponse.prototype.end as Function).call(response, 'x'),
  },
  'a second end that is waited for': {
    status: 201,
    text: 'x',
    give: async (response) => {
      response.end('x');
      await new Promise((resolve) => response.end(resolve));
    },
  },
  'a status in a text': { status: 202, text: 'x', give: (response) => response.writeHead('202').end('x') },
  'no body, with one': { status: 204, text: '', give: (response) => response.writeHead(204).end('x') },
};

/** What Node refuses: the error is the handler's, and Nest answers it. */
const REFUSED: Record<string, Answer> = {
  'a status that is none': (response) => response.writeHead(1000).end('x'),
  'an object for a body': (response) => response.end({ a: 1 }),
  'a number for a chunk': (response) => response.write(1),
  'a list of headers without a value': (response) => response.writeHead(200, ['X-A']).end('x'),
};

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class OddController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('answers/:name')
    @Idempotent({ mode })
    async answer(@Param('name') name: string, @Req() request: any, @Res() response: any) {
      await this.effects.save({ name });
      response.hijack?.();
      await ANSWERS[name]!.give(response.raw ?? response, request.raw ?? request);
    }

    @Post('refused/:name')
    @Idempotent({ mode })
    async refuse(@Param('name') name: string, @Res() response: any) {
      await REFUSED[name]!(response.raw ?? response, undefined);
    }

    /** As a middleware whose wrapper has a fault. */
    @Post('broken')
    @Idempotent({ mode })
    async broken(@Res() response: any) {
      await this.effects.save({ name: 'broken' });
      response.hijack?.();
      (response.raw ?? response).end('x');
    }
  }

  let app: IdempotentApp;
  let isBroken = false;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [OddController],
      configure: (nest) => {
        nest.use((_request: unknown, response: any, next: () => void) => {
          const raw = response.raw ?? response;
          const { end } = raw;
          if (isBroken) {
            raw.end = (...args: unknown[]) => {
              if (isBroken) {
                isBroken = false;
                throw new Error('The wrapper is broken.');
              }
              return end.apply(raw, args);
            };
          }
          next();
        });
      },
    });
  });
  afterAll(() => app.close());
  beforeEach(() => app.effects.clear());

  it.each(Object.keys(ANSWERS))('%s is recorded before it is sent, and replayed', async (name) => {
    const request = { key: newKey(), path: `/answers/${encodeURIComponent(name)}` };
    const first = await app.post(request);
    const second = await app.post(request);

    expect(first).toMatchObject({ status: ANSWERS[name]!.status, text: ANSWERS[name]!.text });
    expectReplay(second, first);
    expect(second.headers['content-length']).toBe(
      first.status === 204 ? undefined : String(first.body.length),
    );
    expect(await app.effects.count()).toBe(1);
  });

  it.each(Object.keys(REFUSED))('%s is an error of the handler', async (name) => {
    const key = newKey();
    const path = `/refused/${encodeURIComponent(name)}`;
    const first = await app.post({ key, path });
    const second = await app.post({ key, path });

    expect(first.status).toBe(500);
    expect(second.status).toBe(500);
    expect(second.headers['idempotent-replayed']).toBe(mode === 'lease' ? 'true' : undefined);
  });

  it('a wrapper of somebody else that fails costs no client its answer', async () => {
    const key = newKey();
    isBroken = true;
    const first = await app.post({ key, path: '/broken' });
    const second = await app.post({ key, path: '/broken' });

    expect(first.status).toBe(503);
    expect(first.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
    expect(second).toMatchObject({ status: 201, text: 'x' });
    expect(await app.effects.count()).toBe(1);
  });
});
