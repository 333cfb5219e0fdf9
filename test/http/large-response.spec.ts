import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, HttpException, Post, Res, StreamableFile } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

const LIMIT = 1_000;
const MEGABYTE = 1024 * 1024;

/** Bytes that say where in the stream they are. */
class Source {
  produced = 0;
  readonly stream: Readable;

  constructor(readonly size: number) {
    this.stream = Readable.from(this.blocks());
  }

  *blocks() {
    while (this.produced < this.size) {
      const block = Math.min(64 * 1024, this.size - this.produced);
      const number = this.produced / (64 * 1024);
      this.produced += block;
      yield Buffer.alloc(block, number % 251);
    }
  }
}

onEachAdapterInEachMode((adapter, mode) => {
  let source: Source;

  @Controller()
  class LargeController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('text')
    @Idempotent({ mode, maxResponseBytes: LIMIT })
    async text() {
      await this.effects.save({ name: 'text' });
      return 'x'.repeat(source.size);
    }

    @Post('refusal')
    @Idempotent({ mode, maxResponseBytes: LIMIT })
    async refusal() {
      await this.effects.save({ name: 'refusal' });
      throw new HttpException({ reasons: 'x'.repeat(source.size) }, 402);
    }

    @Post('file')
    @Idempotent({ mode, maxResponseBytes: LIMIT })
    async file() {
      await this.effects.save({ name: 'file' });
      return new StreamableFile(source.stream, { length: source.size, type: 'video/mp4' });
    }

    @Post('pipe')
    @Idempotent({ mode, maxResponseBytes: LIMIT })
    async pipe(@Res() response: any) {
      await this.effects.save({ name: 'pipe' });
      source.stream.pipe(response.raw ?? response);
    }

    @Post('pipeline')
    @Idempotent({ mode, maxResponseBytes: LIMIT, transactionTimeout: '8s' })
    async pipeline(@Res() response: any) {
      await this.effects.save({ name: 'pipeline' });
      await pipeline(source.stream, response.raw ?? response);
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [LargeController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  async function expectUnavailable(key: string, path: string): Promise<void> {
    const retry = await app.post({ key, path });
    expect(retry.status).toBe(409);
    expect(retry.headers['content-type']).toMatch('application/problem+json');
    expect(retry.headers).not.toHaveProperty('retry-after');
    expect(retry.json()).toMatchObject({ status: 409, code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
    const [record] = await app.records.find();
    expect(record).toMatchObject({ status: null, headers: null, body: null });
  }

  it('C8: a body as large as maxResponseBytes is stored, one byte more is not', async () => {
    source = new Source(LIMIT);
    const key = newKey();
    const first = await app.post({ key, path: '/text' });
    expectReplay(await app.post({ key, path: '/text' }), first);
    await app.records.clear();

    source = new Source(LIMIT + 1);
    const first2 = await app.post({ key, path: '/text' });
    expect(first2.body).toHaveLength(LIMIT + 1);
    await expectUnavailable(key, '/text');
    expect(await app.effects.count()).toBe(2);
  });

  it.each([
    ['/text', 201, 50_000],
    ['/file', 201, 2 * MEGABYTE],
    ['/file', 201, 20 * MEGABYTE],
    ['/pipe', 201, 20 * MEGABYTE],
    ['/pipeline', 201, 2 * MEGABYTE],
  ])(
    'C8: the first client gets all of %s (%i, %i bytes), a retry gets 409, and there is one effect',
    async (path, status, size) => {
      source = new Source(size);
      const key = newKey();
      const first = await app.post({ key, path, signal: AbortSignal.timeout(10_000) });

      expect(first.status).toBe(status);
      expect(first.body).toHaveLength(size);
      const expected =
        path === '/text' ? Buffer.alloc(size, 'x') : Buffer.concat([...new Source(size).blocks()]);
      expect(first.body.equals(expected)).toBe(true);
      if (path === '/file') {
        expect(first.headers).toMatchObject({ 'content-type': 'video/mp4', 'content-length': String(size) });
      }
      await expectUnavailable(key, path);
      expect(await app.effects.count()).toBe(1);
    },
  );

  it('C8: a refusal that is too large keeps the key, without its effects in a transaction', async () => {
    source = new Source(LIMIT + 1);
    const key = newKey();
    const first = await app.post({ key, path: '/refusal' });

    expect(first.status).toBe(402);
    expect(first.json().reasons).toHaveLength(LIMIT + 1);
    await expectUnavailable(key, '/refusal');
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
  });

  it.each(['/file', '/pipe'])(
    'C8: what is passed on by %s waits for a slow client, to whom the outcome is certain already',
    async (path) => {
      source = new Source(64 * MEGABYTE);
      const key = newKey();
      const response = await begin(app.url, path, key);
      await sleep(200);
      const early = source.produced;

      expect(early).toBeLessThan(source.size);
      await expectUnavailable(key, path);
      expect(await openTransactions(app.dataSource)).toBe(0);
      let received = 0;
      for await (const chunk of response) received += (chunk as Buffer).byteLength;
      expect(received).toBe(source.size);
      expect(await app.effects.count()).toBe(1);
    },
  );

  it.each(['/file', '/pipe'])(
    'C8, C34: when a client leaves in the middle of what is passed on by %s, the source is closed',
    async (path) => {
      source = new Source(64 * MEGABYTE);
      const key = newKey();
      const response = await begin(app.url, path, key);
      response.destroy();

      // `pipe()` leaves its source open, as it does without the library.
      if (path === '/file') await eventually(() => expect(source.stream.destroyed).toBe(true));
      await expectUnavailable(key, path);
      expect(await app.effects.count()).toBe(1);
    },
  );

  it('C8: more than can be held while the handler runs fails as an answer that cannot be rendered', async () => {
    source = new Source(20 * MEGABYTE);
    const key = newKey();
    const first = await app.post({ key, path: '/pipeline', signal: AbortSignal.timeout(10_000) });
    await eventually(async () => expect(await openTransactions(app.dataSource)).toBe(0));

    expect(first.status).toBe(500);
    expect(source.stream.destroyed).toBe(true);
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);

    source = new Source(10);
    const retry = await app.post({ key, path: '/pipeline' });
    if (mode === 'transaction') {
      expect(retry.status).toBe(201);
      expect(retry.body).toHaveLength(10);
    } else {
      expectReplay(retry, first);
    }
    expect(await app.effects.count()).toBe(1);
  });
});

/** Sends a request and reads nothing of its answer but the head. */
function begin(url: string, path: string, key: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'Idempotency-Key': key, 'Content-Type': 'application/json' };
    const outgoing = request(url + path, { method: 'POST', agent: false, headers });
    outgoing.once('response', resolve).once('error', reject);
    outgoing.end(JSON.stringify({ amount: 100 }));
  });
}
