import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Catch,
  Controller,
  HttpException,
  Injectable,
  NotFoundException,
  Post,
  UseFilters,
  type ArgumentsHost,
  type ExceptionFilter,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

class CardDeclinedException extends HttpException {
  constructor(readonly card: string) {
    super('Card declined', 402);
  }
}

/** An error that knows nothing of HTTP; the filter makes it a 402 too. */
class OutOfCreditError extends Error {
  readonly card = '**** 0000';
}

let rendered = 0;

/** Its answer cannot be rebuilt from the exception: it takes its time, and counts. */
@Injectable()
@Catch(CardDeclinedException, OutOfCreditError)
class CardFilter implements ExceptionFilter<CardDeclinedException | OutOfCreditError> {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  async catch(error: CardDeclinedException | OutOfCreditError, host: ArgumentsHost) {
    await sleep(5);
    rendered += 1;
    const { httpAdapter } = this.adapterHost;
    const response = host.switchToHttp().getResponse();
    httpAdapter.setHeader(response, 'Content-Type', 'application/xml; charset=utf-8');
    httpAdapter.setHeader(response, 'X-Declined', error.card);
    httpAdapter.reply(response, `<declined no="${rendered}" card="${error.card}"/>`, 402);
  }
}

function controllersFor(mode: IdempotencyMode) {
  class Payments {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    async pay(error: Error): Promise<never> {
      await this.effects.save({ name: 'payment' });
      throw error;
    }
  }

  @Controller('plain')
  class PlainController extends Payments {
    @Post('declined')
    @Idempotent({ mode })
    declined() {
      return super.pay(new CardDeclinedException('**** 4242'));
    }

    @Post('out-of-credit')
    @Idempotent({ mode })
    outOfCredit() {
      return super.pay(new OutOfCreditError());
    }

    @Post('not-found')
    @Idempotent({ mode })
    notFound() {
      return super.pay(new NotFoundException({ reason: 'no such card' }));
    }
  }

  @Controller('controller')
  @UseFilters(CardFilter)
  class FilteredController extends PlainController {}

  @Controller('handler')
  class FilteredHandlersController extends Payments {
    @Post('above/declined')
    @UseFilters(CardFilter)
    @Idempotent({ mode })
    above() {
      return super.pay(new CardDeclinedException('**** 4242'));
    }

    @Post('below/declined')
    @Idempotent({ mode })
    @UseFilters(CardFilter)
    below() {
      return super.pay(new CardDeclinedException('**** 4242'));
    }
  }

  return [PlainController, FilteredController, FilteredHandlersController];
}

interface Wiring {
  where: string;
  paths: string[];
  providers?: Provider[];
  isGlobal?: boolean;
}

const WIRINGS: Wiring[] = [
  { where: 'as a global filter', paths: ['/plain'], isGlobal: true },
  { where: 'as APP_FILTER', paths: ['/plain'], providers: [{ provide: APP_FILTER, useClass: CardFilter }] },
  { where: 'on controller or handler', paths: ['/controller', '/handler/above', '/handler/below'] },
];

onEachAdapterInEachMode((adapter, mode) => {
  describe.each(WIRINGS)('with an exception filter $where', ({ paths, providers, isGlobal }) => {
    let app: IdempotentApp;

    beforeAll(async () => {
      app = await startIdempotentApp({
        adapter,
        controllers: controllersFor(mode),
        providers: providers ?? [],
        configure: (nest) => {
          if (isGlobal) nest.useGlobalFilters(new CardFilter(nest.get(HttpAdapterHost)));
        },
      });
    });
    afterAll(() => app.close());
    beforeEach(async () => {
      rendered = 0;
      await app.effects.clear();
    });

    it.each(paths)('C5: %s replays the 402 that the filter rendered', async (path) => {
      const key = newKey();
      const first = await app.post({ key, path: `${path}/declined` });
      const second = await app.post({ key, path: `${path}/declined` });

      expect(first.status).toBe(402);
      expect(first.text).toBe('<declined no="1" card="**** 4242"/>');
      expect(first.headers['content-type']).toBe('application/xml; charset=utf-8');
      expect(first.headers['x-declined']).toBe('**** 4242');
      expectReplay(second, first);
      expect(second.headers['x-declined']).toBe('**** 4242');
      expect(rendered).toBe(1);
      expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
    });

    if (isGlobal) {
      it('C5: an error that is not of HTTP is released in a transaction, and stored in a lease', async () => {
        const key = newKey();
        const first = await app.post({ key, path: '/plain/out-of-credit' });
        const second = await app.post({ key, path: '/plain/out-of-credit' });

        expect(first.text).toBe('<declined no="1" card="**** 0000"/>');
        expect(second.status).toBe(402);
        if (mode === 'transaction') {
          expect(second.headers).not.toHaveProperty('idempotent-replayed');
          expect(second.text).toBe('<declined no="2" card="**** 0000"/>');
          expect(await app.effects.count()).toBe(0);
        } else {
          expectReplay(second, first);
          expect(await app.effects.count()).toBe(1);
        }
      });

      it("C5: an answer of Nest's own filter is replayed", async () => {
        const key = newKey();
        const first = await app.post({ key, path: '/plain/not-found' });
        const second = await app.post({ key, path: '/plain/not-found' });

        expect(first.status).toBe(404);
        expect(first.json()).toEqual({ reason: 'no such card' });
        expectReplay(second, first);
        expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
      });
    }
  });
});
