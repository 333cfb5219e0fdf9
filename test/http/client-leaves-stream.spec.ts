import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post, StreamableFile, UseGuards, type CanActivate } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { PassThrough, Readable } from 'node:stream';
import { IsNull, Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { giveUpAndRetry, slow } from '../support/impatient-client.js';
import { openTransactions } from '../support/open-transactions.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

class SlowGuard implements CanActivate {
  async canActivate() {
    await slow();
    return true;
  }
}

async function* slowLines() {
  yield 'one ';
  await slow();
  yield 'two';
}

async function* lateLines() {
  await slow();
  yield* slowLines();
}

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class StreamsController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('file')
    @Idempotent({ mode })
    async file() {
      await this.effects.save({ name: '/file' });
      return new StreamableFile(Readable.from(slowLines()));
    }

    @Post('bytes')
    @Idempotent({ mode })
    async bytes() {
      await this.effects.save({ name: '/bytes' });
      return new StreamableFile(Readable.from(slowLines()).pipe(new PassThrough()));
    }

    @Post('lines')
    @Idempotent({ mode })
    async lines() {
      await this.effects.save({ name: '/lines' });
      return slowLines();
    }

    /** Has not given its first line when its client leaves. */
    @Post('late-lines')
    @Idempotent({ mode })
    async lateLines() {
      await this.effects.save({ name: '/late-lines' });
      return lateLines();
    }

    @Post('guarded-file')
    @UseGuards(SlowGuard)
    @Idempotent({ mode })
    async guardedFile() {
      await this.effects.save({ name: '/guarded-file' });
      return new StreamableFile(Readable.from(slowLines()));
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [StreamsController] });
  });
  afterAll(() => app.close());
  beforeEach(() => app.effects.clear());

  it('C34: a stream that stopped with its client executes again in a transaction, and is kept in a lease', async () => {
    const paths = ['/file', '/bytes', '/lines', '/late-lines', '/guarded-file'];
    const retried = await giveUpAndRetry(app, paths);
    await eventually(async () => {
      expect(await openTransactions(app.dataSource)).toBe(0);
      expect(await app.records.countBy({ completedAt: IsNull() })).toBe(0);
    });

    if (mode === 'transaction') {
      expect(retried).toMatchObject(paths.map((path) => ({ path, status: 201, text: 'one two' })));
    } else {
      // Fastify answers 500 for a stream that was closed before its first byte, and this answer is the result.
      const answered = retried.filter(({ status, isReplay }) => status === 500 && isReplay);
      expect(answered.length).toBeLessThan(adapter === 'fastify' ? paths.length : 1);
      for (const retry of retried.filter((one) => !answered.includes(one))) {
        expect(retry).toMatchObject({ status: 409, code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
      }
    }
    const effects = await app.effects.find();
    expect(effects.map(({ name }) => name).toSorted()).toEqual(paths.toSorted());
  });
});
