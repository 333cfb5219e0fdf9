import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post, type INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InjectRepository } from '@nestjs/typeorm';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Repository } from 'typeorm';

import type { AdapterName } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

class Upload {
  readonly #content: Buffer;

  constructor(content: Buffer) {
    this.#content = content;
  }

  get content() {
    return this.#content;
  }
}

/** What parsers leave in a body; JSON shows nothing of what is inside. */
const VALUES: Record<string, (content: Buffer) => unknown> = {
  blob: (content) => new Blob([new Uint8Array(content)]),
  map: (content) => new Map([['content', content.toString()]]),
  set: (content) => new Set([content.toString()]),
  private: (content) => new Upload(content),
  stream: (content) => Readable.from([content]),
  bytes: (content) => new Uint8Array(content),
  buffer: (content) => content,
  date: (content) => new Date(Number(content)),
};

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    @Idempotent({ mode })
    create() {
      return this.effects.save({ name: 'order' });
    }
  }
  return OrdersController;
}

function parsed(type: string | undefined, content: Buffer): object {
  const kind = /^application\/x-(\w+)$/.exec(type ?? '')![1]!;
  return { amount: 100, upload: VALUES[kind]!(content) };
}

/** Parses the type `application/x-…` to an object that has what `VALUES` says in a field. */
function parse(adapter: AdapterName, app: INestApplication): void {
  if (adapter === 'express') {
    app.use(async (request: IncomingMessage & { body?: unknown }, _response: unknown, next: () => void) => {
      request.body = parsed(request.headers['content-type'], await buffer(request));
      next();
    });
    return;
  }
  const fastify = (app as NestFastifyApplication).getHttpAdapter().getInstance();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    done(null, parsed(request.headers['content-type'], body as Buffer));
  });
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [controllerFor(mode)],
      configure: (nest) => parse(adapter, nest),
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    app.log.clear();
  });

  const post = (kind: string, body: string, key = newKey()) =>
    app.post({ key, body, headers: { 'Content-Type': `application/x-${kind}` } });

  it.each(['blob', 'map', 'set', 'private', 'stream'])(
    'C19: a body with a %s in it, whose content cannot be compared, is answered with 500 before the handler',
    async (kind) => {
      const answer = await post(kind, '100');

      expectProblem(answer, 500, 'IDEMPOTENCY_BODY_UNPARSED');
      expect(await app.effects.count()).toBe(0);
      expect(app.log.messages('error')[0]).toMatch(/OrdersController\.create.*`fingerprint`/s);
    },
  );

  it.each(['bytes', 'buffer', 'date'])('C19: the content of a body with a %s in it counts', async (kind) => {
    const key = newKey();
    const first = await post(kind, '100', key);
    const other = await post(kind, '900', key);

    expect(first.status).toBe(201);
    expectProblem(other, 422, 'IDEMPOTENCY_KEY_REUSED');
    expectReplay(await post(kind, '100', key), first);
    expect(await app.effects.count()).toBe(1);
  });
});
