import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  ConflictException,
  Controller,
  Post,
  ServiceUnavailableException,
  UseInterceptors,
  type NestInterceptor,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { retry } from 'rxjs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

/** Tries once more when the handler fails, as interceptors against short outages do. */
const again: NestInterceptor = { intercept: (_context, next) => next.handle().pipe(retry(1)) };

const outages = (count: number) =>
  Array.from({ length: count }, () => new ServiceUnavailableException('short outage'));

onEachAdapterInEachMode((adapter, mode) => {
  let calls = 0;
  let failures: Error[] = [];

  @Controller()
  class RepeatedController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('outside')
    @Idempotent({ mode })
    @UseInterceptors(again)
    outside() {
      return this.work();
    }

    @Post('inside')
    @UseInterceptors(again)
    @Idempotent({ mode })
    inside() {
      return this.work();
    }

    private async work() {
      calls += 1;
      const { name } = await this.effects.save({ name: `call ${calls}` });
      const failure = failures.shift();
      if (failure) throw failure;
      return { name };
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [RepeatedController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    calls = 0;
    failures = [];
    await app.effects.clear();
    await app.records.clear();
  });

  it.each(['/outside', '/inside'])(
    'an interceptor that repeats a failed handler (%s) never leaves a success without its effect, nor two',
    async (path) => {
      failures = outages(1);
      const key = newKey();
      const first = await app.post({ key, path });
      const effects = await app.effects.count();
      const second = await app.post({ key, path });

      expect(await openTransactions(app.dataSource)).toBe(0);
      if (mode === 'transaction') {
        expect(effects).toBe(first.status === 201 ? 1 : 0);
        expect(second.status).toBe(201);
        expect(await app.effects.count()).toBe(1);
      } else {
        // Both calls may have had an effect outside; what the client was told is what it is told again.
        expect(calls).toBe(2);
        expect(first.status).toBe(201);
        expectReplay(second, first);
        expect(await app.effects.count()).toBe(2);
      }
    },
  );

  it('an interceptor outside that repeats the whole attempt has the second one stored', async () => {
    failures = outages(1);
    const key = newKey();
    const first = await app.post({ key, path: '/outside' });
    const second = await app.post({ key, path: '/outside' });

    expect(first.status).toBe(201);
    expect(first.json()).toEqual({ name: 'call 2' });
    expectReplay(second, first);
  });

  it.each(['/outside', '/inside'])(
    'when the repetition (%s) fails too, its error is the outcome',
    async (path) => {
      failures = outages(2);
      const key = newKey();
      const first = await app.post({ key, path });
      const effects = await app.effects.count();
      failures = [];
      const second = await app.post({ key, path });

      expect(first.status).toBeGreaterThanOrEqual(500);
      if (mode === 'transaction') {
        expect(effects).toBe(0);
        expect(second.status).toBe(201);
        expect(await app.effects.count()).toBe(1);
      } else {
        expect(first.status).toBe(503);
        expect(first.json()).toMatchObject({ message: 'short outage' });
        expectReplay(second, first);
      }
    },
  );

  it.each(['/outside', '/inside'])(
    'a final refusal that is repeated (%s) has one outcome, told to the client and to its retry',
    async (path) => {
      failures = [new ConflictException('sold out')];
      const key = newKey();
      const first = await app.post({ key, path });
      const second = await app.post({ key, path });

      expect(await openTransactions(app.dataSource)).toBe(0);
      expect(first.text).not.toMatch('IDEMPOTENCY_KEY_IN_USE');
      if (mode === 'lease') {
        expectReplay(second, first);
      } else if (first.status < 500) {
        // The repetition may be answered from the record of the refusal, as any other request with its key.
        expect(second.status).toBe(first.status);
        expect(second.text).toBe(first.text);
        expect(await app.effects.count()).toBe(first.status === 201 ? 1 : 0);
      } else {
        expect(second.status).toBe(201);
        expect(await app.effects.count()).toBe(1);
      }
    },
  );
});
