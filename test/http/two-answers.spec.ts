import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, HttpException, Param, ParseIntPipe, Post, Res } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectReplay, expectSameAnswer, onEachAdapterInEachMode } from '../support/replay.js';

/** The same handlers with and without the library. */
function controllerFor(path: string, decorator: MethodDecorator) {
  @Controller(path)
  class TwoAnswersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('answers-and-returns')
    @decorator
    async answersAndReturns(@Res() response: any) {
      await this.effects.save({ name: path });
      response.status(202).send({ answer: 'sent' });
      return { answer: 'returned' };
    }

    @Post('answers-and-throws/:status')
    @decorator
    async answersAndThrows(@Param('status', ParseIntPipe) status: number, @Res() response: any) {
      await this.effects.save({ name: path });
      response.status(202).send({ answer: 'sent' });
      await sleep(10);
      throw new HttpException('thrown', status);
    }

    @Post('answers-raw-and-throws/:status')
    @decorator
    async answersRawAndThrows(@Param('status', ParseIntPipe) status: number, @Res() response: any) {
      await this.effects.save({ name: path });
      (response.raw ?? response).writeHead(202, { 'X-Answer': 'sent' }).end('sent');
      throw new HttpException('thrown', status);
    }

    @Post('begins-and-throws')
    @decorator
    async beginsAndThrows(@Res() response: any) {
      await this.effects.save({ name: path });
      (response.raw ?? response).writeHead(202, { 'X-Answer': 'begun' }).write('begun');
      throw new Error('out of luck');
    }

    @Post('passes-through-and-answers')
    @decorator
    async passesThroughAndAnswers(@Res({ passthrough: true }) response: any) {
      await this.effects.save({ name: path });
      response.status(202).send({ answer: 'sent' });
      return { answer: 'returned' };
    }

    @Post('sends-twice')
    @decorator
    async sendsTwice(@Res() response: any) {
      await this.effects.save({ name: path });
      const raw = response.raw ?? response;
      raw.end('first');
      raw.end('second');
    }

    @Post('prepares-and-throws/:status')
    @decorator
    async preparesAndThrows(
      @Param('status', ParseIntPipe) status: number,
      @Res({ passthrough: true }) response: any,
    ) {
      await this.effects.save({ name: path });
      response.header('WWW-Authenticate', 'Bearer realm="orders"');
      response.header('X-Reason', 'because');
      (response.raw ?? response).statusMessage = 'As You Like It';
      throw new HttpException('thrown', status);
    }
  }
  return TwoAnswersController;
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    const controllers = [
      controllerFor('plain', () => undefined),
      controllerFor('idempotent', Idempotent({ mode })),
    ];
    app = await startIdempotentApp({ adapter, controllers });
  });
  afterAll(() => app.close());
  beforeEach(() => app.effects.clear());

  const effects = () => app.effects.countBy({ name: 'idempotent' });

  async function twice(path: string) {
    const key = newKey();
    const signal = AbortSignal.timeout(8_000);
    const first = await app.post({ key, path: `/idempotent/${path}`, signal });
    const second = await app.post({ key, path: `/idempotent/${path}`, signal });
    expect(await openTransactions(app.dataSource)).toBe(0);
    return { first, second };
  }

  it.each(['answers-and-returns', 'passes-through-and-answers', 'sends-twice'])(
    'C4: the first of two answers (%s) is the one that is sent and replayed',
    async (path) => {
      const { first, second } = await twice(path);

      expect(first.text).toBe(path === 'sends-twice' ? 'first' : '{"answer":"sent"}');
      // Node emits an error for a second end().
      if (path !== 'sends-twice') expectSameAnswer(first, await app.post({ path: `/plain/${path}` }));
      expectReplay(second, first);
      expect(await effects()).toBe(1);
    },
  );

  it.each([
    'answers-and-throws/402',
    'answers-and-throws/429',
    'answers-and-throws/500',
    'answers-raw-and-throws/402',
    'answers-raw-and-throws/500',
  ])(
    'C4: after an answer the error of %s is sent in its place in a transaction, and dropped in a lease',
    async (path) => {
      const { first, second } = await twice(path);

      if (mode === 'transaction') {
        expect(first.status).toBe(Number(path.split('/')[1]));
        expect(first.json()).toMatchObject({ message: 'thrown' });
        expect(first.headers).not.toHaveProperty('x-answer');
        expect(second.headers).not.toHaveProperty('idempotent-replayed');
        expectSameAnswer(second, first);
        expect(await effects()).toBe(0);
      } else {
        expect(first.status).toBe(202);
        expect(first.text).toMatch('sent');
        expectReplay(second, first);
        expect(await effects()).toBe(1);
      }
    },
  );

  it('C4: an error after half an answer is sent in its place in a transaction, and ends it in a lease', async () => {
    const { first, second } = await twice('begins-and-throws');

    if (mode === 'transaction') {
      expect(first.status).toBe(500);
      expect(first.json()).toMatchObject({ message: 'Internal server error' });
      expect(first.headers).not.toHaveProperty('x-answer');
      expect(await effects()).toBe(0);
    } else {
      expect(first.status).toBe(202);
      expect(first.text).toBe('begun');
      expectReplay(second, first);
      expect(await effects()).toBe(1);
    }
  });

  it.each([401, 402, 503])(
    'C6: headers that a handler set before it threw %i are sent with the error, as without the library',
    async (status) => {
      const path = `prepares-and-throws/${status}`;
      const { first, second } = await twice(path);

      expect(first.status).toBe(status);
      expect(first.headers).toMatchObject({
        'www-authenticate': 'Bearer realm="orders"',
        'x-reason': 'because',
      });
      expectSameAnswer(first, await app.post({ path: `/plain/${path}` }));
      if (mode === 'lease' || status === 402) {
        expectReplay(second, first);
        expect(second.headers).toMatchObject({ 'x-reason': 'because' });
      } else {
        expect(second.headers).not.toHaveProperty('idempotent-replayed');
      }
    },
  );
});
