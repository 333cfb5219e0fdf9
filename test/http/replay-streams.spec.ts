import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Header, Post, StreamableFile } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { defer } from 'rxjs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, expectSameAnswer, onEachAdapterInEachMode } from '../support/replay.js';

const FILE = 'package-lock.json';
const ALL_BYTES = Buffer.from(Array.from({ length: 1024 }, (_, index) => index % 256));
const PDF = { type: 'application/pdf', disposition: 'attachment; filename="räksmörgås.pdf"' };

async function* slowly<T>(...chunks: T[]): AsyncGenerator<T> {
  for (const chunk of chunks) {
    await sleep(5);
    yield chunk;
  }
}

/** What a handler returns, and the body and the content type that the client gets. */
const RESULTS: Record<string, { make: () => unknown; body: string | Buffer; type?: string }> = {
  'a StreamableFile of bytes': {
    make: () => new StreamableFile(ALL_BYTES, { ...PDF, disposition: 'attachment', length: 1024 }),
    body: ALL_BYTES,
    type: 'application/pdf',
  },
  'a StreamableFile of a slow stream': {
    make: () => new StreamableFile(Readable.from(slowly('first ', 'second ', 'third')), { type: 'text/csv' }),
    body: 'first second third',
    type: 'text/csv',
  },
  'a StreamableFile of an empty stream': {
    make: () => new StreamableFile(Readable.from([])),
    body: '',
    type: 'application/octet-stream',
  },
  'a promise of a StreamableFile': {
    make: () => Promise.resolve(new StreamableFile(ALL_BYTES)),
    body: ALL_BYTES,
    type: 'application/octet-stream',
  },
  'an Observable of a StreamableFile': {
    make: () => defer(async () => new StreamableFile(ALL_BYTES)),
    body: ALL_BYTES,
    type: 'application/octet-stream',
  },
  'a Node stream of bytes': {
    make: () => Readable.from(slowly(ALL_BYTES, ALL_BYTES)),
    body: Buffer.concat([ALL_BYTES, ALL_BYTES]),
    type: 'application/octet-stream',
  },
  'a Node stream of objects': {
    make: () => Readable.from([{ a: 1 }, { b: 2 }]),
    body: '{"a":1}\n{"b":2}\n',
    type: 'application/x-ndjson',
  },
  'an async generator of text': {
    make: () => slowly('one, ', 'two'),
    body: 'one, two',
    type: 'text/plain; charset=utf-8',
  },
  'a web stream': {
    make: () => new Blob([ALL_BYTES]).stream(),
    body: ALL_BYTES,
    type: 'application/octet-stream',
  },
  'a web Response': {
    make: () => new Response('made elsewhere', { status: 203, headers: { 'X-Made': 'elsewhere' } }),
    body: 'made elsewhere',
    type: 'text/plain;charset=UTF-8',
  },
  'a web Response without a body': {
    make: () => new Response(null, { status: 204 }),
    body: '',
  },
};

const current: { make: () => unknown } = { make: () => undefined };

/** The same handlers with and without the library. */
function controllerFor(path: string, decorator: MethodDecorator) {
  @Controller(path)
  class StreamsController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('result')
    @decorator
    async result() {
      await this.effects.save({ name: 'stream' });
      return current.make();
    }

    @Post('file')
    @Header('Content-Type', 'application/vnd.example')
    @decorator
    async file() {
      await this.effects.save({ name: 'file' });
      return new StreamableFile(createReadStream(FILE), PDF);
    }

    @Post('generator')
    @decorator
    async *generator() {
      await this.effects.save({ name: 'generator' });
      yield { line: 1 };
      yield { line: 2 };
    }
  }
  return StreamsController;
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    const controllers = [
      controllerFor('plain', () => undefined),
      controllerFor('idempotent', Idempotent({ mode })),
    ];
    app = await startIdempotentApp({ adapter, controllers });
  });
  afterAll(() => app.close());
  beforeEach(() => app.effects.clear());

  async function twice(path: string) {
    const key = newKey();
    const first = await app.post({ key, path: `/idempotent/${path}` });
    const second = await app.post({ key, path: `/idempotent/${path}` });
    expect(await app.effects.count()).toBe(1);
    return { first, second };
  }

  it.each(Object.keys(RESULTS))('C3: %s is replayed byte by byte, with its content type', async (name) => {
    const { make, body, type } = RESULTS[name]!;
    current.make = make;
    const { first, second } = await twice('result');

    expect(first.body.equals(Buffer.from(body))).toBe(true);
    expect(first.headers['content-type']).toBe(type);
    expectReplay(second, first);
    expectSameAnswer(first, await app.post({ path: '/plain/result' }));
    expectSameAnswer({ ...second, headers: withoutMark(second.headers) }, first);
  });

  it.each([
    ['a Buffer', Buffer.from('plain bytes')],
    ['an Uint8Array', new Uint8Array([0, 128, 255])],
  ])('C3: %s is replayed as Nest has sent it', async (_name, value) => {
    current.make = () => value;
    const { first, second } = await twice('result');

    expectReplay(second, first);
    expectSameAnswer(first, await app.post({ path: '/plain/result' }));
  });

  it('C3: a file from the disk is replayed with the content type of @Header() and its disposition', async () => {
    const { first, second } = await twice('file');

    expect(first.body.equals(await readFile(FILE))).toBe(true);
    expect(second.headers['content-type']).toBe('application/vnd.example');
    expect(second.headers['content-disposition']).toBe(first.headers['content-disposition']);
    expect(second.headers['content-disposition']).toMatch('.pdf');
    expectReplay(second, first);
  });

  it('C3: a handler that is a generator runs once, and its lines are replayed', async () => {
    const { first, second } = await twice('generator');

    expect(first.text).toBe('{"line":1}\n{"line":2}\n');
    expectReplay(second, first);
  });
});

function withoutMark({ 'idempotent-replayed': _mark, ...headers }: Record<string, unknown>) {
  return headers as Record<string, string>;
}
