import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Post, Res, UseInterceptors, type NestInterceptor } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { of, timeout, timer, race, map } from 'rxjs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';
import { timeOutAfter } from '../support/time-out.js';

const LIMIT = 150;

const timeOut = timeOutAfter(LIMIT);

/** Gives up without an error. */
const placeholder: NestInterceptor = {
  intercept: (_context, next) =>
    next.handle().pipe(timeout({ each: LIMIT, with: () => of({ name: 'come back later' }) })),
};

const racing: NestInterceptor = {
  intercept: (_context, next) =>
    race(next.handle(), timer(LIMIT).pipe(map(() => ({ name: 'come back later' })))),
};

onEachAdapterInEachMode((adapter, mode) => {
  let slow = true;
  let open: () => void;
  let gate: Promise<void>;
  let lateWrites: string[] = [];

  class Work {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    async work() {
      await this.effects.save({ name: 'early' });
      if (slow) {
        await gate;
        await this.effects.save({ name: 'late' }).then(
          () => lateWrites.push('written'),
          (error: Error) => lateWrites.push(error.message),
        );
      }
      return { name: 'result' };
    }
  }

  @Controller('outside')
  class OutsideController extends Work {
    @Post('time-out')
    @Idempotent({ mode })
    @UseInterceptors(timeOut)
    timeOut() {
      return this.work();
    }

    @Post('placeholder')
    @Idempotent({ mode })
    @UseInterceptors(placeholder)
    placeholder() {
      return this.work();
    }

    @Post('racing')
    @Idempotent({ mode })
    @UseInterceptors(racing)
    racing() {
      return this.work();
    }

    @Post('res')
    @Idempotent({ mode })
    @UseInterceptors(timeOut)
    async res(@Res() response: any) {
      const result = await this.work();
      response.status(201).send(result);
    }
  }

  @Controller('inside')
  class InsideController extends Work {
    @Post('time-out')
    @UseInterceptors(timeOut)
    @Idempotent({ mode })
    timeOut() {
      return this.work();
    }

    @Post('placeholder')
    @UseInterceptors(placeholder)
    @Idempotent({ mode })
    placeholder() {
      return this.work();
    }

    @Post('racing')
    @UseInterceptors(racing)
    @Idempotent({ mode })
    racing() {
      return this.work();
    }

    @Post('res')
    @UseInterceptors(timeOut)
    @Idempotent({ mode })
    async res(@Res() response: any) {
      const result = await this.work();
      response.status(201).send(result);
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [OutsideController, InsideController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    slow = true;
    gate = new Promise((resolve) => (open = resolve));
    lateWrites = [];
    await app.effects.clear();
    await app.records.clear();
  });

  describe.each(['outside', 'inside'])('an interceptor %s of the library', (where) => {
    it.each(['time-out', 'placeholder', 'racing', 'res'])(
      'C28: that answers while the handler runs (%s) is heard at once, and never stored',
      async (name) => {
        const isTimeOut = name === 'time-out' || name === 'res';
        const path = `/${where}/${name}`;
        const key = newKey();
        const first = await app.post({ key, path });

        expect(first.status).toBe(isTimeOut ? 408 : 201);
        expect(first.json()).toMatchObject(isTimeOut ? { statusCode: 408 } : { name: 'come back later' });
        expect(lateWrites).toEqual([]);

        if (mode === 'transaction') {
          expect(await app.effects.count()).toBe(0);
          expect(await openTransactions(app.dataSource)).toBe(0);
          slow = false;
          const retry = await app.post({ key, path });
          expect(retry.status).toBe(201);
          expect(retry.json()).toEqual({ name: 'result' });

          open();
          await eventually(() => expect(lateWrites).toEqual([expect.stringMatching('rolled back')]));
          expectReplay(await app.post({ key, path }), retry);
          expect(await app.effects.find()).toEqual([expect.objectContaining({ name: 'early' })]);
        } else {
          const early = await app.post({ key, path });
          expect(early.status).toBe(409);
          expect(early.headers['retry-after']).toBe('1');
          expect(early.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });

          open();
          await eventually(() => expect(lateWrites).toEqual(['written']));
          const late = await eventually(async () => {
            const answer = await app.post({ key, path });
            expect(answer.headers).not.toHaveProperty('retry-after');
            return answer;
          });
          expect(late.status).toBe(409);
          expect(late.json()).toMatchObject({ code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
          expect(await app.effects.count()).toBe(2);
          const [record] = await app.records.find();
          expect(record).toMatchObject({ status: null, body: null });
        }
      },
    );

    it('C28: that has nothing to do does not change anything', async () => {
      slow = false;
      const key = newKey();
      const first = await app.post({ key, path: `/${where}/time-out` });

      expect(first.json()).toEqual({ name: 'result' });
      expectReplay(await app.post({ key, path: `/${where}/time-out` }), first);
      await sleep(LIMIT);
      expect(await app.effects.count()).toBe(1);
    });
  });
});
