import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Param, Post, Res } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import type { HttpResponse } from '../support/http.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

type SetHeaders = (response: any) => void;

const raw = (response: any): ServerResponse => response.raw ?? response;

/** Ways to set the same headers, all of which end in one response. */
const WAYS: Record<string, SetHeaders> = {
  'the header methods of the framework': (response) => {
    response.header('Location', '/orders/1');
    response.header('ETag', '"v1"');
    response.header('X-Custom', 'mine');
    response.header('X-List', ['one', 'two']);
    response.header('Set-Cookie', ['a=1; Path=/', 'b=2']);
    response.send('done');
  },
  'setHeader()': (response) => {
    raw(response).setHeader('Location', '/orders/1');
    raw(response).setHeader('etag', '"v1"');
    raw(response).setHeader('X-Custom', 'mine');
    raw(response).setHeader('X-List', ['one', 'two']);
    raw(response).setHeader('Set-Cookie', ['a=1; Path=/', 'b=2']);
    raw(response).end('done');
  },
  'appendHeader()': (response) => {
    raw(response).setHeaders(new Map([['Location', '/orders/1']]));
    raw(response).setHeaders(new Headers({ ETag: '"v1"' }));
    raw(response).appendHeader('X-Custom', 'mine');
    raw(response).appendHeader('X-List', 'one').appendHeader('X-List', 'two');
    raw(response).appendHeader('Set-Cookie', ['a=1; Path=/', 'b=2']);
    raw(response).end('done');
  },
  'writeHead() with an object': (response) => {
    raw(response)
      .writeHead(200, {
        Location: '/orders/1',
        ETag: '"v1"',
        'X-Custom': 'mine',
        'X-List': ['one', 'two'],
        'Set-Cookie': ['a=1; Path=/', 'b=2'],
      })
      .end('done');
  },
  'writeHead() with a flat list': (response) => {
    raw(response)
      .writeHead(200, [
        'Location',
        '/orders/1',
        'ETag',
        '"v1"',
        'X-Custom',
        'mine',
        'X-List',
        'one',
        'X-List',
        'two',
        'Set-Cookie',
        'a=1; Path=/',
        'Set-Cookie',
        'b=2',
      ])
      .end('done');
  },
  'writeHead() with a message and headers': (response) => {
    raw(response).setHeader('X-Custom', 'replaced by writeHead');
    raw(response)
      .writeHead(200, 'Fine', {
        location: '/orders/1',
        etag: '"v1"',
        'x-custom': 'mine',
        'x-list': ['one', 'two'],
        'set-cookie': ['a=1; Path=/', 'b=2'],
      })
      .end('done');
  },
};

const PER_REQUEST = ['X-Request-Id', 'X-Correlation-Id', 'X-RateLimit-Remaining', 'RateLimit', 'traceparent'];

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class HeadersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('way/:way')
    @Idempotent({ mode })
    async way(@Param('way') way: string, @Res() response: any) {
      await this.effects.save({ name: way });
      response.status(200);
      WAYS[way]!(response);
    }

    @Post('per-request')
    @Idempotent({ mode })
    async perRequest(@Res({ passthrough: true }) response: any) {
      const { id } = await this.effects.save({ name: 'per-request' });
      for (const name of PER_REQUEST) response.header(name, `first ${id}`);
      response.header('X-Kept', 'kept');
      return { id };
    }

    @Post('over-middleware')
    @Idempotent({ mode })
    async overMiddleware(@Res({ passthrough: true }) response: any) {
      await this.effects.save({ name: 'over-middleware' });
      response.header('X-From-Middleware', 'by the handler');
      return 'done';
    }
  }

  let app: IdempotentApp;
  let requests = 0;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [HeadersController],
      configure: (nest) => {
        nest.enableCors({ origin: true, credentials: true });
        nest.use((_request: IncomingMessage, response: ServerResponse, next: () => void) => {
          requests += 1;
          response.setHeader('X-Request-Id', `request ${requests}`);
          response.setHeader('X-RateLimit-Remaining', String(100 - requests));
          response.setHeader('X-From-Middleware', `request ${requests}`);
          response.appendHeader('Set-Cookie', `visit=${requests}`);
          next();
        });
      },
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    requests = 0;
    await app.effects.clear();
    await app.records.clear();
  });

  async function twice(path: string, origins: [string, string] = ['https://a.test', 'https://b.test']) {
    const key = newKey();
    const first = await app.post({ key, path, headers: { Origin: origins[0] } });
    const second = await app.post({ key, path, headers: { Origin: origins[1] } });
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
    return { first, second };
  }

  describe.each(Object.keys(WAYS))('headers set through %s', (way) => {
    it('C6: are replayed, cookies never', async () => {
      const { first, second } = await twice(`/way/${encodeURIComponent(way)}`);

      expect(first.text).toBe('done');
      expect(cookies(first)).toEqual(expect.arrayContaining(['a=1; Path=/', 'b=2']));
      expect(cookies(second)).toEqual(['visit=2']);
      for (const response of [first, second]) {
        expect(response.headers).toMatchObject({ location: '/orders/1', etag: '"v1"', 'x-custom': 'mine' });
        expect(lines(response, 'x-list')).toEqual(['one', 'two']);
        expect(lines(response, 'x-custom')).toHaveLength(1);
      }
      const [record] = await app.records.find();
      expect(record!.headers).not.toMatch(/cookie|visit|a=1/i);
    });
  });

  it('C6: headers of the middleware are fresh in the replay', async () => {
    const { first, second } = await twice('/per-request');

    expect(second.headers['x-request-id']).toBe('request 2');
    expect(second.headers['x-ratelimit-remaining']).toBe('98');
    expect(second.headers['x-from-middleware']).toBe('request 2');
    expect(lines(second, 'x-request-id')).toHaveLength(1);
    expect(first.headers['x-request-id']).toMatch('first');
  });

  it('C6: what tells one request from another is not replayed, even where the handler has set it', async () => {
    const { first, second } = await twice('/per-request');

    expect(first.headers).toMatchObject({ traceparent: expect.stringMatching('first'), 'x-kept': 'kept' });
    expect(second.headers['x-kept']).toBe('kept');
    for (const name of ['x-correlation-id', 'ratelimit', 'traceparent']) {
      expect(second.headers).not.toHaveProperty(name);
    }
  });

  it('C6: a header of the middleware that the handler replaced is replayed as the client got it', async () => {
    const { first, second } = await twice('/over-middleware');

    expect(first.headers['x-from-middleware']).toBe('by the handler');
    expect(second.headers['x-from-middleware']).toBe('by the handler');
  });

  it('C6: CORS headers are those of the request that is answered', async () => {
    const { first, second } = await twice('/per-request');

    expect(first.headers['access-control-allow-origin']).toBe('https://a.test');
    expect(second.headers['access-control-allow-origin']).toBe('https://b.test');
    expect(lines(second, 'access-control-allow-origin')).toHaveLength(1);
    expect(second.headers['access-control-allow-credentials']).toBe('true');
  });

  it('C6: the date is fresh', async () => {
    const { first, second } = await twice('/per-request');
    const [record] = await app.records.find();

    expect(JSON.parse(record!.headers!)).not.toHaveProperty('date');
    expect(lines(second, 'date')).toHaveLength(1);
    expect(lines(first, 'date')).toHaveLength(1);
  });
});

/** All values that were received under a name, one for each line. */
function lines({ rawHeaders }: HttpResponse, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name);
}

const cookies = (response: HttpResponse) => lines(response, 'set-cookie');
