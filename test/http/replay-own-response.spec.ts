import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Param, Post, Res } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import type { AdapterName } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, expectSameAnswer, onEachAdapterInEachMode } from '../support/replay.js';

type Answer = (response: any) => unknown;

const raw = (response: any): ServerResponse => response.raw ?? response;

/** Ways to answer on Node's own response, which both adapters have. */
const ON_NODE: Record<string, Answer> = {
  'writeHead() and end()': (response) =>
    raw(response).writeHead(202, { 'Content-Type': 'text/plain', 'X-From': 'node' }).end('from node'),
  'write() in pieces': (response) => {
    raw(response).statusCode = 203;
    raw(response).setHeader('Content-Type', 'text/plain');
    raw(response).write('one ');
    raw(response).write(Buffer.from('two '));
    raw(response).write('dGhyZWU=', 'base64');
    raw(response).end();
  },
  'flushHeaders() before the body': (response) => {
    raw(response).setHeader('Content-Type', 'text/plain');
    raw(response).flushHeaders();
    raw(response).end('after the headers');
  },
  'a status message and an empty body': (response) => raw(response).writeHead(299, 'Quite Good').end(),
  'end() alone': (response) => raw(response).end('à la carte', 'latin1'),
};

const ANSWERS: Record<AdapterName, Record<string, Answer>> = {
  express: {
    ...ON_NODE,
    'json()': (response) => response.status(202).set('X-From', 'express').json({ by: 'json' }),
    'send()': (response) => response.send('by send'),
    'send() of bytes': (response) => response.send(Buffer.from([0, 128, 255])),
    'sendStatus()': (response) => response.sendStatus(202),
    'sendFile()': (response) => response.status(202).sendFile(resolve('package-lock.json')),
    'sendFile() of a missing file': (response) => response.sendFile(resolve('no-such-file')),
    'download()': (response) => response.download(resolve('LICENSE'), 'licence.txt'),
    'redirect()': (response) => response.redirect(303, '/orders/1'),
    'format()': (response) => response.format({ json: () => response.json({ by: 'format' }) }),
    'jsonp()': (response) => response.jsonp({ by: 'jsonp' }),
  },
  fastify: {
    ...ON_NODE,
    'send()': (response) => response.status(202).header('X-From', 'fastify').send({ by: 'send' }),
    'send() of text': (response) => response.send('by send'),
    'send() of bytes': (response) => response.send(Buffer.from([0, 128, 255])),
    'send() of nothing': (response) => response.code(204).send(),
    'redirect()': (response) => response.redirect('/orders/1', 303),
    'hijack()': (response) => {
      response.hijack();
      response.raw.writeHead(202, { 'Content-Type': 'text/plain' }).end('hijacked');
    },
  },
};

/** The same handlers with and without the library. */
function controllerFor(adapter: AdapterName, path: string, decorator: MethodDecorator) {
  const answers = ANSWERS[adapter];

  @Controller(path)
  class OwnResponseController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('early/:answer')
    @decorator
    async early(@Param('answer') answer: string, @Res() response: any) {
      await this.effects.save({ name: path });
      answers[answer]!(response);
    }

    @Post('before/:answer')
    @decorator
    async before(@Param('answer') answer: string, @Res() response: any) {
      answers[answer]!(response);
      await sleep(30);
      await this.effects.save({ name: path });
    }

    @Post('late/:answer')
    @decorator
    async late(@Param('answer') answer: string, @Res() response: any) {
      await this.effects.save({ name: path });
      setTimeout(() => answers[answer]!(response), 30);
    }

    @Post('sync/:answer')
    @decorator
    sync(@Param('answer') answer: string, @Res() response: any) {
      void this.effects.save({ name: path }).then(() => answers[answer]!(response));
    }
  }
  return OwnResponseController;
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    const controllers = [
      controllerFor(adapter, 'plain', () => undefined),
      controllerFor(adapter, 'idempotent', Idempotent({ mode })),
    ];
    app = await startIdempotentApp({ adapter, controllers });
  });
  afterAll(() => app.close());
  beforeEach(() => app.effects.clear());

  const all = Object.keys(ANSWERS[adapter]);

  describe.each([
    ['before its promise resolves', 'early', all],
    ['after its promise has resolved', 'late', all],
    ['and goes on working', 'before', ['write() in pieces', 'send()']],
    ['from a callback of a handler without a promise', 'sync', ['write() in pieces', 'send()']],
  ])('a handler with @Res() that answers %s', (_title, when, answers) => {
    it.each(answers)('C4: through %s is recorded and replayed', async (answer) => {
      const key = newKey();
      const path = `${when}/${encodeURIComponent(answer)}`;
      const first = await app.post({ key, path: `/idempotent/${path}` });
      const second = await app.post({ key, path: `/idempotent/${path}` });
      expect(await app.effects.countBy({ name: 'idempotent' })).toBe(1);

      expectReplay(second, first);
      const { 'idempotent-replayed': _mark, ...headers } = second.headers;
      expectSameAnswer({ ...second, headers }, first);
      expectSameAnswer(first, await app.post({ path: `/plain/${path}` }));
    });
  });
});
