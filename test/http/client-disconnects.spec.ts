import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Controller,
  InternalServerErrorException,
  Post,
  Res,
  StreamableFile,
  UnprocessableEntityException,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { IsNull, Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import type { HttpResponse } from '../support/http.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

/** The client gives up after 100 ms; what is slow takes three times as long. */
const PATIENCE = 100;
const slow = (): Promise<void> => sleep(3 * PATIENCE);

class SlowGuard implements CanActivate {
  async canActivate() {
    await slow();
    return true;
  }
}

async function* slowLines() {
  yield 'one ';
  await slow();
  yield 'two ';
  yield 'three';
}

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class ImpatientController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('handler')
    @Idempotent({ mode })
    async handler() {
      await slow();
      return this.effects.save({ name: 'handler' });
    }

    @Post('refusal')
    @Idempotent({ mode })
    async refusal() {
      await this.effects.save({ name: 'refusal' });
      await slow();
      throw new UnprocessableEntityException('sold out');
    }

    @Post('failure')
    @Idempotent({ mode })
    async failure() {
      await this.effects.save({ name: 'failure' });
      await slow();
      if ((await this.effects.count()) === 1) throw new InternalServerErrorException('out of luck');
    }

    @Post('guard')
    @UseGuards(SlowGuard)
    @Idempotent({ mode })
    async guard() {
      return this.effects.save({ name: 'guard' });
    }

    @Post('guarded-file')
    @UseGuards(SlowGuard)
    @Idempotent({ mode })
    async guardedFile() {
      await this.effects.save({ name: 'guarded-file' });
      return new StreamableFile(Readable.from(slowLines()));
    }

    @Post('file')
    @Idempotent({ mode })
    async file() {
      await this.effects.save({ name: 'file' });
      return new StreamableFile(Readable.from(slowLines()));
    }

    @Post('generator')
    @Idempotent({ mode })
    async generator() {
      await this.effects.save({ name: 'generator' });
      return slowLines();
    }

    @Post('slow-generator')
    @Idempotent({ mode })
    async *slowGenerator() {
      await this.effects.save({ name: 'slow-generator' });
      await slow();
      yield* slowLines();
    }

    @Post('res')
    @Idempotent({ mode })
    async res(@Res() response: any) {
      await this.effects.save({ name: 'res' });
      await slow();
      response.send('by res');
    }

    @Post('late-res')
    @Idempotent({ mode })
    async lateRes(@Res() response: any) {
      await this.effects.save({ name: 'late-res' });
      setTimeout(() => response.send('by res'), 3 * PATIENCE);
    }

    @Post('pipeline')
    @Idempotent({ mode })
    async pipeline(@Res() response: any) {
      await this.effects.save({ name: 'pipeline' });
      await pipeline(Readable.from(slowLines()), response.raw ?? response);
    }

    @Post('much-later-res')
    @Idempotent({ mode })
    muchLaterRes(@Res() response: any) {
      const work = async () => {
        await sleep(1_700);
        response.send(await this.effects.save({ name: 'much-later-res' }));
      };
      work().catch(() => undefined);
    }

    @Post('never')
    @Idempotent({ mode, lockTtl: '1s', transactionTimeout: '2s' })
    async never(@Res() _response: any) {
      await this.effects.save({ name: 'never' });
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [ImpatientController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  /** Sends a request, gives up on it, and repeats it until it is not in flight any more. */
  async function giveUpAndRetry(path: string): Promise<HttpResponse> {
    const key = newKey();
    await expect(app.post({ key, path, signal: AbortSignal.timeout(PATIENCE) })).rejects.toThrow();
    await sleep(3 * PATIENCE);
    return eventually(async () => {
      const retry = await app.post({ key, path });
      expect(retry.headers).not.toHaveProperty('retry-after');
      expect(await openTransactions(app.dataSource)).toBe(0);
      return retry;
    });
  }

  it.each(['/handler', '/guard', '/res', '/late-res', '/pipeline'])(
    'C34: a client that leaves while %s is at work gets its first result later',
    async (path) => {
      const retry = await giveUpAndRetry(path);

      expect(retry.status).toBe(201);
      expect(retry.headers['idempotent-replayed']).toBe('true');
      expect(retry.text).toMatch(/^(\{"name":".*\}|by res|one two three)$/);
      expect(await app.effects.count()).toBe(1);
      const records = await app.records.find();
      expect(records).toEqual([expect.objectContaining({ status: 201, completedAt: expect.any(Date) })]);
    },
  );

  it('C4, C34: a callback that answers long after its client has left is waited for', async () => {
    const retry = await giveUpAndRetry('/much-later-res');

    expect(retry.status).toBe(201);
    expect(retry.headers['idempotent-replayed']).toBe('true');
    expect(retry.json()).toMatchObject({ name: 'much-later-res' });
    expect(await app.effects.count()).toBe(1);
  });

  it('C34: a refusal that nobody waited for is replayed', async () => {
    const retry = await giveUpAndRetry('/refusal');

    expect(retry.status).toBe(422);
    expect(retry.json()).toMatchObject({ message: 'sold out' });
    expect(retry.headers['idempotent-replayed']).toBe('true');
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
  });

  it('C34: a failure that nobody waited for counts as any other failure', async () => {
    const retry = await giveUpAndRetry('/failure');

    expect(retry.status).toBe(500);
    expect(retry.headers['idempotent-replayed']).toBe(mode === 'transaction' ? undefined : 'true');
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
  });

  it.each(['/file', '/generator', '/slow-generator', '/guarded-file'])(
    'C34: a stream that stopped with its client (%s) is executed again in a transaction, and kept in a lease',
    async (path) => {
      const retry = await giveUpAndRetry(path);

      if (mode === 'transaction') {
        expect(retry.status).toBe(201);
        expect(retry.text).toBe('one two three');
      } else if (adapter === 'fastify' && path === '/guarded-file') {
        // Fastify answers a stream that was closed before it began, and this answer is the result.
        expect(retry.status).toBe(500);
        expect(retry.headers['idempotent-replayed']).toBe('true');
      } else {
        expect(retry.status).toBe(409);
        expect(retry.json()).toMatchObject({ code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
      }
      expect(await app.effects.count()).toBe(1);
    },
  );

  it('C34: a handler that never answers does not keep its key once the client has gone', async () => {
    const key = newKey();
    const request = app.post({ key, path: '/never', signal: AbortSignal.timeout(PATIENCE) });
    await expect(request).rejects.toThrow();
    await eventually(async () => {
      expect(await openTransactions(app.dataSource)).toBe(0);
      expect(await app.records.countBy({ completedAt: IsNull() })).toBe(0);
    });
    if (mode === 'lease') {
      const retry = await app.post({ key, path: '/never' });
      expect(retry.json()).toMatchObject({ code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
    }
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
  });
});
