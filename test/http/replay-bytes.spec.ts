import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post, Res, StreamableFile } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, expectSameAnswer, onEachAdapterInEachMode } from '../support/replay.js';

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const LATIN1 = Buffer.from('Grüße aus Århus: café, £5, ½', 'latin1');
const ROWS = Array.from({ length: 4_000 }, (_, row) => ({
  row,
  text: `räksmörgås \u2028 ${row} 🥪`.repeat(2),
}));

/** The same handlers with and without the library. */
function controllerFor(path: string, decorator: MethodDecorator) {
  @Controller(path)
  class BytesController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('binary')
    @decorator
    async binary(@Res() response: any) {
      await this.effects.save({ name: path });
      response.header('Content-Type', 'application/octet-stream');
      response.send(EVERY_BYTE);
    }

    @Post('latin1')
    @decorator
    async latin1(@Res() response: any) {
      await this.effects.save({ name: path });
      const raw: ServerResponse = response.raw ?? response;
      raw.setHeader('Content-Type', 'text/plain; charset=iso-8859-1');
      raw.end(LATIN1.toString('latin1'), 'latin1');
    }

    @Post('invalid-utf8')
    @decorator
    async invalidUtf8() {
      await this.effects.save({ name: path });
      return new StreamableFile(Readable.from([Buffer.from([0xff, 0xfe]), Buffer.from([0xc3])]), {
        type: 'text/plain; charset=utf-8',
      });
    }

    @Post('half-characters')
    @decorator
    async halfCharacters() {
      await this.effects.save({ name: path });
      const bytes = Buffer.from('a🥪b');
      return new StreamableFile(Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]));
    }

    @Post('json')
    @decorator
    async json() {
      await this.effects.save({ name: path });
      return ROWS;
    }

    @Post('hostile')
    @decorator
    async hostile() {
      await this.effects.save({ name: path });
      return { z: 1, a: 'nul \u0000, lone \ud800, duplicate keys', 10: 'ten', 9: 'nine', n: 1e300, z0: -0 };
    }

    /** Memory is free for other use when the callback of `write()` was called. */
    @Post('reused-memory')
    @decorator
    async reusedMemory(@Res() response: any) {
      await this.effects.save({ name: path });
      const raw: ServerResponse = response.raw ?? response;
      const block = Buffer.alloc(1_000);
      for (let number = 1; number <= 5; number += 1) {
        block.fill(number);
        await new Promise((resolve) => void raw.write(block, resolve));
      }
      block.fill(0);
      raw.end();
    }

    @Post('gzip')
    @decorator
    async gzip(@Res() response: any) {
      await this.effects.save({ name: path });
      const raw: ServerResponse = response.raw ?? response;
      raw.setHeader('Content-Encoding', 'gzip');
      raw.setHeader('Content-Type', 'application/json');
      await pipeline(Readable.from([JSON.stringify(ROWS)]), createGzip(), raw);
    }
  }
  return BytesController;
}

/** What compression middleware does: it takes `write()` and `end()` over, and answers for them later. */
function compress(_request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const gzip = createGzip();
  const { write, end, writeHead } = response;
  const original = { write: write.bind(response), end: end.bind(response), writeHead };
  gzip.on('data', (chunk) => original.write(chunk)).on('end', () => original.end());
  response.writeHead = function (...args: Parameters<typeof writeHead>) {
    response.setHeader('Content-Encoding', 'gzip');
    response.removeHeader('Content-Length');
    return original.writeHead.apply(response, args);
  } as typeof writeHead;
  response.write = ((chunk: Buffer) => gzip.write(chunk)) as typeof write;
  response.end = ((chunk?: Buffer | string) => {
    if (!response.headersSent) response.writeHead(response.statusCode);
    gzip.end(chunk);
    return response;
  }) as typeof end;
  next();
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    const controllers = [
      controllerFor('plain', () => undefined),
      controllerFor('idempotent', Idempotent({ mode })),
      controllerFor('compressed', Idempotent({ mode })),
    ];
    app = await startIdempotentApp({
      adapter,
      controllers,
      configure: (nest) => void nest.use('/compressed', compress),
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  async function twice(path: string) {
    const key = newKey();
    const first = await app.post({ key, path });
    const second = await app.post({ key, path });
    expect(await app.effects.count()).toBe(1);
    expectReplay(second, first);
    return { first, second };
  }

  const NAMES = [
    'binary',
    'latin1',
    'invalid-utf8',
    'half-characters',
    'json',
    'hostile',
    'reused-memory',
    'gzip',
  ];

  it.each(NAMES)('C7: the bytes of a response (%s) are those that left the server', async (name) => {
    const { first } = await twice(`/idempotent/${name}`);

    expectSameAnswer(first, await app.post({ path: `/plain/${name}` }));
    const [record] = await app.records.find();
    expect(record!.body!.equals(first.body)).toBe(true);
  });

  it.each(['json', 'latin1'])('a replay (%s) is framed as the first answer was', async (name) => {
    const { first, second } = await twice(`/idempotent/${name}`);

    expect(first.headers['content-length']).toBe(String(first.body.byteLength));
    expect(second.headers['content-length']).toBe(first.headers['content-length']);
    expect(second.headers).not.toHaveProperty('transfer-encoding');
  });

  it('C7: bytes that are no text, text that is not UTF-8 and 300 kB of JSON are what they should be', async () => {
    const [binary, latin1, json] = await Promise.all(
      ['binary', 'latin1', 'json'].map(async (name) => app.post({ path: `/idempotent/${name}` })),
    );

    expect(binary!.body.equals(EVERY_BYTE)).toBe(true);
    expect(latin1!.body.equals(LATIN1)).toBe(true);
    expect(json!.body.byteLength).toBeGreaterThan(300_000);
    expect(json!.json()).toEqual(ROWS);
  });

  it.each(NAMES.slice(0, -2))(
    'C7: middleware that compresses the first answer (%s) does so with the replay',
    async (name) => {
      const { second } = await twice(`/compressed/${name}`);
      const plain = await app.post({ path: `/plain/${name}` });

      expect(second.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(second.body).equals(plain.body)).toBe(true);
    },
  );
});
