import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Post, Res, UseInterceptors } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';
import { timeOutAfter } from '../support/time-out.js';

const LIMIT = 100;

onEachAdapterInEachMode((adapter, mode) => {
  let slow = true;

  const timeOut = timeOutAfter(LIMIT, () => slow);

  class Work {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    async begin(response: any) {
      await this.effects.save({ name: 'effect' });
      const raw = response.raw ?? response;
      raw.writeHead(201, { 'X-Answer': 'begun' }).write('begun ');
      if (slow) await sleep(3 * LIMIT);
      raw.end('and ended');
    }

    async answer(response: any) {
      await this.effects.save({ name: 'effect' });
      response.status(201).send('answered');
      if (slow) await sleep(3 * LIMIT);
    }
  }

  @Controller('outside')
  class OutsideController extends Work {
    @Post('begun')
    @Idempotent({ mode })
    @UseInterceptors(timeOut)
    begun(@Res() response: any) {
      return this.begin(response);
    }

    @Post('answered')
    @Idempotent({ mode })
    @UseInterceptors(timeOut)
    answered(@Res() response: any) {
      return this.answer(response);
    }
  }

  @Controller('inside')
  class InsideController extends Work {
    @Post('begun')
    @UseInterceptors(timeOut)
    @Idempotent({ mode })
    begun(@Res() response: any) {
      return this.begin(response);
    }

    @Post('answered')
    @UseInterceptors(timeOut)
    @Idempotent({ mode })
    answered(@Res() response: any) {
      return this.answer(response);
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [OutsideController, InsideController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    slow = true;
    await app.effects.clear();
  });

  /** What the key gives once the first request is over. */
  async function retryOf(key: string, path: string) {
    slow = false;
    const retry = await eventually(async () => {
      const answer = await app.post({ key, path });
      expect(answer.headers).not.toHaveProperty('retry-after');
      return answer;
    });
    expect(await openTransactions(app.dataSource)).toBe(0);
    return retry;
  }

  describe.each(['outside', 'inside'])('a time-out %s of the library', (where) => {
    it('C28: takes the place of half an answer, which nobody has seen', async () => {
      const key = newKey();
      const path = `/${where}/begun`;
      const first = await app.post({ key, path });

      expect(first.status).toBe(408);
      expect(first.json()).toMatchObject({ statusCode: 408 });
      expect(first.headers).not.toHaveProperty('x-answer');
      await sleep(4 * LIMIT);
      const retry = await retryOf(key, path);
      if (mode === 'transaction') {
        expect(retry.text).toBe('begun and ended');
      } else {
        expect(retry.json()).toMatchObject({ code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
      }
      expect(await app.effects.count()).toBe(1);
    });

    it('C28: does not separate a whole answer from its effect', async () => {
      const key = newKey();
      const path = `/${where}/answered`;
      const first = await app.post({ key, path });
      await sleep(4 * LIMIT);
      const effects = await app.effects.count();
      const retry = await retryOf(key, path);

      if (first.status === 201) {
        expect(effects).toBe(1);
        expectReplay(retry, first);
      } else {
        expect(first.status).toBe(408);
        expect(effects).toBe(mode === 'transaction' ? 0 : 1);
        expect(retry.status).toBe(mode === 'transaction' ? 201 : 409);
      }
      expect(await app.effects.count()).toBe(1);
    });
  });
});
