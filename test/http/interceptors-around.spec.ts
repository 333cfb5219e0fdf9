import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Body,
  ConflictException,
  Controller,
  NotFoundException,
  Post,
  Res,
  UseInterceptors,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { catchError, finalize, map, of, tap } from 'rxjs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

let seen: string[] = [];

/** Hears everything that a stream can say. */
const observer: NestInterceptor = {
  intercept: (_context: ExecutionContext, next) =>
    next.handle().pipe(
      tap({
        next: (value) => seen.push(`next ${JSON.stringify(value)}`),
        error: (error) => seen.push(`error ${error.status}`),
        complete: () => seen.push('complete'),
      }),
      finalize(() => seen.push('finalize')),
    ),
};

const envelope: NestInterceptor = {
  intercept: (_context, next) => next.handle().pipe(map((data) => ({ data }))),
};

/** As many are written: it does not expect a handler that returns nothing. */
const picker: NestInterceptor = {
  intercept: (_context, next) => next.handle().pipe(map((effect: Effect) => effect.name)),
};

const failing = (error: Error): NestInterceptor => ({
  intercept: (_context, next) =>
    next.handle().pipe(
      map(() => {
        throw error;
      }),
    ),
});

const healer: NestInterceptor = {
  intercept: (_context, next) =>
    next.handle().pipe(catchError((error) => of({ healed: error.status ?? 500 }))),
};

const shortcut: NestInterceptor = { intercept: () => of('from a cache') };

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class AroundController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('value')
    @Idempotent({ mode })
    async value(@Body() body: { delay?: number }) {
      await sleep(body.delay ?? 0);
      const { name } = await this.effects.save({ name: 'value' });
      return { name };
    }

    @Post('res')
    @Idempotent({ mode })
    async res(@Res() response: any) {
      await this.effects.save({ name: 'res' });
      response.send('by res');
    }

    @Post('enveloped')
    @Idempotent({ mode })
    @UseInterceptors(envelope)
    enveloped() {
      return this.value({});
    }

    @Post('picked')
    @Idempotent({ mode })
    @UseInterceptors(picker)
    picked() {
      return this.value({});
    }

    @Post('failed-outside')
    @Idempotent({ mode })
    @UseInterceptors(failing(new TypeError('not an order')))
    failedOutside() {
      return this.value({});
    }

    @Post('refused-outside')
    @Idempotent({ mode })
    @UseInterceptors(failing(new ConflictException('not like this')))
    refusedOutside() {
      return this.value({});
    }

    @Post('healed-outside')
    @Idempotent({ mode })
    @UseInterceptors(healer)
    async healedOutside() {
      await this.effects.save({ name: 'healed' });
      throw new NotFoundException();
    }

    @Post('healed-inside')
    @UseInterceptors(healer)
    @Idempotent({ mode })
    async healedInside() {
      await this.effects.save({ name: 'healed' });
      throw new Error('out of luck');
    }

    @Post('shortcut-inside')
    @UseInterceptors(shortcut)
    @Idempotent({ mode })
    shortcutInside() {
      return this.value({});
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [AroundController],
      configure: (nest) => void nest.useGlobalInterceptors(observer),
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    seen = [];
    await app.effects.clear();
    await app.records.clear();
    app.log.clear();
  });

  async function twice(path: string) {
    const key = newKey();
    const first = await app.post({ key, path });
    const seenOfFirst = seen.splice(0);
    const second = await app.post({ key, path });
    expect(await openTransactions(app.dataSource)).toBe(0);
    return { first, second, seenOfFirst };
  }

  it.each([
    ['/value', ['next {"name":"value"}', 'complete', 'finalize']],
    ['/res', ['next undefined', 'complete', 'finalize']],
  ])(
    'the stream of %s completes for interceptors outside, the first time and in a replay',
    async (path, expected) => {
      const { first, second, seenOfFirst } = await twice(path);

      expectReplay(second, first);
      expect(seenOfFirst).toEqual(expected);
      expect(seen).toEqual(['next undefined', 'complete', 'finalize']);
      expect(app.log.messages('error')).toEqual([]);
    },
  );

  it('a refusal by the library is an error of the stream, with its status', async () => {
    const key = newKey();
    const running = app.post({ key, path: '/value', body: { delay: 400 } });
    await sleep(150);
    const duplicate = await app.post({ key, path: '/value', body: { delay: 400 } });
    const reused = await app.post({ key, path: '/value' });
    expect(seen).toEqual(['error 409', 'finalize', 'error 422', 'finalize']);
    await running;

    expect([duplicate.status, reused.status]).toEqual([409, 422]);
    expect(seen.slice(4)).toEqual(['next {"name":"value"}', 'complete', 'finalize']);
  });

  it('what an interceptor outside makes of the result is what is replayed', async () => {
    const { first, second } = await twice('/enveloped');

    expect(first.json()).toEqual({ data: { name: 'value' } });
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
  });

  it('an interceptor outside that cannot work with a replay does not change it', async () => {
    const { first, second } = await twice('/picked');

    expect(first.text).toBe('value');
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
  });

  it('a failure of an interceptor outside counts as one of rendering', async () => {
    const { first, second } = await twice('/failed-outside');

    expect(first.status).toBe(500);
    expect(second.status).toBe(500);
    expect(second.headers['idempotent-replayed']).toBe(mode === 'transaction' ? undefined : 'true');
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
  });

  it('a refusal by an interceptor outside is the answer of a handler that returned, and is stored', async () => {
    const { first, second } = await twice('/refused-outside');

    expect(first.status).toBe(409);
    expect(first.json()).toMatchObject({ message: 'not like this' });
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
  });

  it('what an interceptor outside makes of a refusal is replayed; the effects of the refusal stay undone', async () => {
    const { first, second } = await twice('/healed-outside');

    expect(first.json()).toEqual({ healed: 404 });
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
  });

  it('a failure that an interceptor inside hides is still one of the handler', async () => {
    const { first, second } = await twice('/healed-inside');

    expect(first.status).toBe(201);
    expect(first.json()).toEqual({ healed: 500 });
    if (mode === 'transaction') {
      expect(second.headers).not.toHaveProperty('idempotent-replayed');
      expect(await app.effects.count()).toBe(0);
    } else {
      expectReplay(second, first);
      expect(await app.effects.count()).toBe(1);
    }
  });

  it('an interceptor inside that answers in the place of the handler leaves the key free', async () => {
    const { first, second } = await twice('/shortcut-inside');

    expect(first.text).toBe('from a cache');
    expect(second.text).toBe('from a cache');
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(await app.records.count()).toBe(0);
    expect(await app.effects.count()).toBe(0);
  });
});
