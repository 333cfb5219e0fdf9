import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post, Res, StreamableFile } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { AsyncResource } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay } from '../support/replay.js';

@Controller()
class ExportsController {
  static failures = 0;
  static committed: () => Promise<number>;

  constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

  @Post('generator')
  @Idempotent()
  async *generator() {
    await this.effects.save({ name: 'from a generator' });
    yield 'rows: ';
    this.failIfAsked();
    yield `${await this.effects.count()}, committed: ${await ExportsController.committed()}`;
  }

  @Post('file')
  @Idempotent()
  async file() {
    await this.effects.save({ name: 'before a file' });
    return new StreamableFile(Readable.from(this.lines()), { type: 'text/plain' });
  }

  @Post('node-stream')
  @Idempotent()
  async nodeStream() {
    await this.effects.save({ name: 'before a stream' });
    return Readable.from(this.lines());
  }

  @Post('pipeline')
  @Idempotent()
  async pipeline(@Res() response: any) {
    await this.effects.save({ name: 'before a pipeline' });
    await pipeline(Readable.from(this.lines()), response.raw ?? response);
  }

  async *lines() {
    yield 'rows: ';
    this.failIfAsked();
    yield `${await this.effects.count()}`;
    await this.effects.save({ name: 'while streaming' });
  }

  private failIfAsked() {
    if (ExportsController.failures > 0) {
      ExportsController.failures -= 1;
      throw new Error('out of paper');
    }
  }
}

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [ExportsController] });
    ExportsController.committed = AsyncResource.bind(() => app.effects.count());
  });
  afterAll(() => app.close());
  beforeEach(() => app.effects.clear());

  it.each(['/file', '/node-stream', '/pipeline'])(
    'the stream of %s sees the rows of its own request, and its writes commit with the record',
    async (path) => {
      const key = newKey();
      const first = await app.post({ key, path });
      const second = await app.post({ key, path });

      expect(first.text).toBe('rows: 1');
      expectReplay(second, first);
      expect(await app.effects.count()).toBe(2);
    },
  );

  it('what a generator that is the handler writes commits with the record', async () => {
    const key = newKey();
    const first = await app.post({ key, path: '/generator' });
    const second = await app.post({ key, path: '/generator' });

    expect(first.text).toBe('rows: 1, committed: 0');
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
  });

  it.each(['/generator', '/file', '/node-stream', '/pipeline'])(
    'C41: when the stream of %s fails nothing of it stays, and a retry executes once',
    async (path) => {
      ExportsController.failures = 1;
      const key = newKey();
      await app.post({ key, path }).catch(() => undefined);
      await eventually(async () => expect(await openTransactions(app.dataSource)).toBe(0));
      expect(await app.effects.count()).toBe(0);

      const retry = await app.post({ key, path });

      expect(retry.status).toBe(201);
      expect(retry.headers).not.toHaveProperty('idempotent-replayed');
      expect(await app.effects.count()).toBe(path === '/generator' ? 1 : 2);
    },
  );
});
