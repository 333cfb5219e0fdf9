import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, HttpException, Post, UseInterceptors, type NestInterceptor } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { concat, delay, finalize, mergeMap, of, tap, throwError, timer, type Observable } from 'rxjs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { giveUp, PATIENCE } from '../support/impatient-client.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

/** Gives the value on only after the client has left. */
const slowly: NestInterceptor = { intercept: (_context, next) => next.handle().pipe(delay(2 * PATIENCE)) };

onEachAdapterInEachMode((adapter, mode) => {
  let cancelled = 0;

  @Controller()
  class ObservablesController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('observable')
    @Idempotent({ mode })
    observable() {
      return this.work();
    }

    @Post('promised')
    @Idempotent({ mode })
    async promised() {
      await this.effects.count();
      return this.work();
    }

    @Post('slow-inside')
    @Idempotent({ mode })
    @UseInterceptors(slowly)
    slowInside() {
      return this.work();
    }

    @Post('slow-outside')
    @UseInterceptors(slowly)
    @Idempotent({ mode })
    slowOutside() {
      return this.work();
    }

    @Post('several')
    @Idempotent({ mode })
    async several() {
      return concat(of({ name: 'first' }), this.work(), of({ name: 'last' }));
    }

    @Post('refused')
    @Idempotent({ mode })
    refused() {
      return concat(
        this.work(),
        throwError(() => new HttpException('sold out', 409)),
      );
    }

    @Post('refused-promised')
    @Idempotent({ mode })
    async refusedPromised() {
      return this.refused();
    }

    private work(): Observable<object> {
      let isOver = false;
      return timer(3 * PATIENCE).pipe(
        mergeMap(() => this.effects.save({ name: 'observable' })),
        tap({ complete: () => (isOver = true) }),
        finalize(() => (cancelled += isOver ? 0 : 1)),
      );
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [ObservablesController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    cancelled = 0;
    await app.effects.clear();
  });

  it.each(['/observable', '/promised', '/slow-inside', '/slow-outside', '/several'])(
    'C42: the Observable of %s is not cancelled when its client leaves, and the retry replays',
    async (path) => {
      const key = newKey();
      await giveUp(app, key, path);
      await sleep(3 * PATIENCE);
      const retry = await eventually(async () => {
        const answer = await app.post({ key, path });
        expect(answer.headers).not.toHaveProperty('retry-after');
        return answer;
      });

      expect(retry.status).toBe(201);
      expect(retry.json()).toMatchObject({ name: path === '/several' ? 'last' : 'observable' });
      expect(retry.headers['idempotent-replayed']).toBe('true');
      expect(cancelled).toBe(0);
      expect(await app.effects.count()).toBe(1);
      expect(await openTransactions(app.dataSource)).toBe(0);
    },
  );

  it.each(['/refused', '/refused-promised'])(
    'C42: the refusal of an Observable (%s) counts as one of the handler',
    async (path) => {
      const key = newKey();
      const first = await app.post({ key, path });
      const second = await app.post({ key, path });

      expect(first.status).toBe(409);
      expect(first.json()).toMatchObject({ message: 'sold out' });
      expectReplay(second, first);
      expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
    },
  );

  it('C42: an Observable gives its last value, as in Nest', async () => {
    const key = newKey();
    const first = await app.post({ key, path: '/several' });
    const second = await app.post({ key, path: '/several' });

    expect(first.json()).toEqual({ name: 'last' });
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
  });
});
