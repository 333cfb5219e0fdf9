import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post, Res, StreamableFile } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { IsNull, Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay, expectSameAnswer, onEachAdapterInEachMode } from '../support/replay.js';

let failures = 0;

async function* lines() {
  yield 'one ';
  await sleep(20);
  if (failures > 0) {
    failures -= 1;
    throw new Error('out of paper');
  }
  yield 'two';
}

async function* failAtOnce() {
  if (failures > 0) throw new Error('no paper at all');
  yield 'one two';
}

/** The same handlers with and without the library. */
function controllerFor(path: string, decorator: MethodDecorator) {
  @Controller(path)
  class BrokenController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('file')
    @decorator
    async file() {
      await this.effects.save({ name: path });
      return new StreamableFile(Readable.from(lines()));
    }

    @Post('file-at-once')
    @decorator
    async fileAtOnce() {
      await this.effects.save({ name: path });
      return new StreamableFile(Readable.from(failAtOnce()));
    }

    @Post('generator')
    @decorator
    async generator() {
      await this.effects.save({ name: path });
      return lines();
    }

    @Post('web-response')
    @decorator
    async webResponse() {
      await this.effects.save({ name: path });
      return new Response(Readable.toWeb(Readable.from(lines(), { objectMode: false })) as ReadableStream);
    }

    @Post('pipe')
    @decorator
    async pipe(@Res() response: any) {
      const raw: ServerResponse = response.raw ?? response;
      await this.effects.save({ name: path });
      Readable.from(lines())
        .on('error', (error) => raw.destroy(error))
        .pipe(raw);
    }

    @Post('pipe-unheard')
    @decorator
    async pipeUnheard(@Res() response: any) {
      await this.effects.save({ name: path });
      Readable.from(lines())
        .on('error', () => undefined)
        .pipe(response.raw ?? response);
    }

    @Post('pipeline')
    @decorator
    async pipeline(@Res() response: any) {
      await this.effects.save({ name: path });
      await pipeline(Readable.from(lines()), response.raw ?? response);
    }

    @Post('pipeline-caught')
    @decorator
    async pipelineCaught(@Res() response: any) {
      await this.effects.save({ name: path });
      await pipeline(Readable.from(lines()), response.raw ?? response).catch(() => undefined);
    }

    @Post('destroyed')
    @decorator
    async destroyed(@Res() response: any) {
      const raw: ServerResponse = response.raw ?? response;
      await this.effects.save({ name: path });
      if (failures > 0) {
        failures -= 1;
        raw.destroy();
      } else {
        raw.end('one two');
      }
    }

    @Post('socket-destroyed')
    @decorator
    async socketDestroyed(@Res() response: any) {
      const raw: ServerResponse = response.raw ?? response;
      await this.effects.save({ name: path });
      if (failures > 0) {
        failures -= 1;
        raw.write('one ');
        raw.socket!.destroy();
      } else {
        raw.end('one two');
      }
    }
  }
  return BrokenController;
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    const controllers = [
      controllerFor('plain', () => undefined),
      controllerFor('idempotent', Idempotent({ mode, lockTtl: '1s', transactionTimeout: '2s' })),
    ];
    app = await startIdempotentApp({ adapter, controllers });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  /** Nothing is open any more: no transaction, no lease that would have to be renewed. */
  const settled = () =>
    eventually(async () => {
      expect(await openTransactions(app.dataSource)).toBe(0);
      expect(await app.records.countBy({ completedAt: IsNull() })).toBe(0);
    });

  it.each([
    '/file',
    '/generator',
    '/web-response',
    '/pipe',
    '/pipe-unheard',
    '/pipeline',
    '/pipeline-caught',
    '/destroyed',
    '/socket-destroyed',
  ])('C41: when %s breaks off, it executes again in a transaction, and is kept in a lease', async (name) => {
    const key = newKey();
    const path = `/idempotent${name}`;
    failures = 1;
    // Without an end, as for `pipe-unheard`, the client is the one to lose patience.
    const first = await app.post({ key, path, signal: AbortSignal.timeout(600) }).catch(() => undefined);
    expect(first?.status).not.toBe(201);
    await settled();
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);

    const retry = await app.post({ key, path, signal: AbortSignal.timeout(5_000) });
    if (mode === 'transaction') {
      expect(retry.status).toBe(name === '/web-response' ? 200 : 201);
      expect(retry.text).toBe('one two');
      expectReplay(await app.post({ key, path }), retry);
    } else {
      expect(retry.status).toBe(409);
      expect(retry.json()).toMatchObject({ code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
    }
    expect(await app.effects.count()).toBe(1);
  });

  it('C41: a stream that fails before its first byte gets the answer of Nest, which counts by its status', async () => {
    const key = newKey();
    failures = 1;
    const first = await app.post({ key, path: '/idempotent/file-at-once' });
    const second = await app.post({ key, path: '/idempotent/file-at-once' });
    const effects = await app.effects.count();
    const plain = await app.post({ path: '/plain/file-at-once' });
    failures = 0;

    expect(first.status).toBeGreaterThanOrEqual(400);
    expectSameAnswer(first, plain);
    if (mode === 'transaction' && first.status >= 500) {
      expect(second.headers).not.toHaveProperty('idempotent-replayed');
      expect(effects).toBe(0);
    } else {
      expectReplay(second, first);
      expect(effects).toBe(1);
    }
    await settled();
  });
});
