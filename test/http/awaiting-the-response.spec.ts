import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Param, Post, Res } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { PassThrough, pipeline as pipelineWithCallback, Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createGzip, gunzipSync } from 'node:zlib';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, expectSameAnswer, onEachAdapterInEachMode } from '../support/replay.js';

const FILE = 'package-lock.json';
const file = () => createReadStream(FILE);

/** Ways to send a file and to go on when it has been sent. Without the library each of them ends. */
const WAYS: Record<string, (response: ServerResponse) => Promise<unknown>> = {
  'pipeline()': (response) => pipeline(file(), response),
  'pipeline() with a transform': (response) => pipeline(file(), new PassThrough(), response),
  'pipeline() with a callback': (response) => promisify(pipelineWithCallback)(file(), response),
  'pipeline() of a generator': (response) =>
    pipeline(async function* () {
      for await (const chunk of file()) {
        await sleep(1);
        yield chunk;
      }
    }, response),
  'pipeline() without ending, then end()': async (response) => {
    await pipeline(file(), response, { end: false });
    response.end();
  },
  'pipe() and finished()': async (response) => {
    file().pipe(response);
    await finished(response);
  },
  'pipe() and the finish event': async (response) => {
    file().pipe(response);
    await once(response, 'finish');
  },
  'pipe() and the close event': async (response) => {
    file().pipe(response);
    await once(response, 'close');
  },
  'end() and then finished()': async (response) => {
    response.end(await readFile(FILE));
    await finished(response);
  },
  'the callback of end()': async (response) => {
    const content = await readFile(FILE);
    await new Promise<void>((resolve) => void response.end(content, resolve));
  },
  'the callback of write()': async (response) => {
    for await (const chunk of file()) {
      await new Promise((resolve) => void response.write(chunk, resolve));
    }
    await new Promise<void>((resolve) => void response.end(resolve));
  },
  'write() and the drain event': async (response) => {
    for await (const chunk of file()) {
      if (!response.write(chunk)) await once(response, 'drain');
    }
    response.end();
  },
  'the web stream of the response': (response) =>
    Readable.toWeb(file()).pipeTo(Writable.toWeb(response as unknown as Writable)),
  'a web stream': async (response) => {
    for await (const chunk of Readable.toWeb(file())) response.write(chunk);
    response.end();
  },
};

/** The same handlers with and without the library. */
function controllerFor(path: string, decorator: MethodDecorator) {
  @Controller(path)
  class AwaitingController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('way/:way')
    @decorator
    async way(@Param('way') way: string, @Res() response: any) {
      const raw: ServerResponse = response.raw ?? response;
      raw.setHeader('Content-Type', 'application/json');
      await WAYS[way]!(raw);
      if (path === 'idempotent') {
        const { headersSent, writableEnded, writableFinished } = raw;
        states.push({ headersSent, writableEnded, writableFinished });
      }
      await this.effects.save({ name: path });
    }

    @Post('gzip')
    @decorator
    async gzip(@Res() response: any) {
      await this.effects.save({ name: path });
      const raw: ServerResponse = response.raw ?? response;
      raw.writeHead(200, { 'Content-Encoding': 'gzip' });
      await pipeline(file(), createGzip(), raw);
    }
  }
  return AwaitingController;
}

let states: object[] = [];

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    const controllers = [
      controllerFor('plain', () => undefined),
      controllerFor('idempotent', Idempotent({ mode, transactionTimeout: '5s' })),
    ];
    app = await startIdempotentApp({ adapter, controllers });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    states = [];
    await app.effects.clear();
  });

  it.each(Object.keys(WAYS))('C40: a handler that awaits its response through %s ends', async (way) => {
    const key = newKey();
    const path = `way/${encodeURIComponent(way)}`;
    const first = await app.post({ key, path: `/idempotent/${path}`, signal: AbortSignal.timeout(6_000) });
    const second = await app.post({ key, path: `/idempotent/${path}` });

    expect(first.body.equals(await readFile(FILE))).toBe(true);
    expectReplay(second, first);
    expect(await app.effects.countBy({ name: 'idempotent' })).toBe(1);
    expect(states).toEqual([{ headersSent: true, writableEnded: true, writableFinished: true }]);
    expectSameAnswer(first, await app.post({ path: `/plain/${path}` }));
  });

  it('C40: what goes through a transform stream is recorded as it left the server', async () => {
    const key = newKey();
    const first = await app.post({ key, path: '/idempotent/gzip' });
    const second = await app.post({ key, path: '/idempotent/gzip' });

    expect(first.headers['content-encoding']).toBe('gzip');
    expect(second.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(second.body).equals(await readFile(FILE))).toBe(true);
    expectReplay(second, first);
    expect(await app.effects.countBy({ name: 'idempotent' })).toBe(1);
  });
});
