import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, ForbiddenException, Post, Res, StreamableFile } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

onEachAdapterInEachMode((adapter, mode) => {
  let events: string[] = [];
  let recordsAtFinish: Promise<number>[] = [];

  @Controller()
  class EventsController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('json')
    @Idempotent({ mode })
    async json(@Body() body: { delay?: number }) {
      await this.effects.save({ name: 'json' });
      await sleep(body.delay ?? 0);
      return { a: 1 };
    }

    @Post('file')
    @Idempotent({ mode })
    async file() {
      await this.effects.save({ name: 'file' });
      return new StreamableFile(Readable.from(['one ', 'two']));
    }

    @Post('refused')
    @Idempotent({ mode })
    async refused() {
      await this.effects.save({ name: 'refused' });
      throw new ForbiddenException();
    }

    @Post('listening')
    @Idempotent({ mode })
    async listening(@Res() response: any) {
      await this.effects.save({ name: 'listening' });
      const raw: ServerResponse = response.raw ?? response;
      raw.on('finish', () =>
        events.push(`handler: finish, sent ${raw.headersSent}, ended ${raw.writableEnded}`),
      );
      raw.once('close', () => events.push('handler: close'));
      events.push(`handler: sent ${raw.headersSent}, ended ${raw.writableEnded}`);
      raw.write('one ');
      events.push(`handler: sent ${raw.headersSent}, ended ${raw.writableEnded}`);
      raw.end('two');
      events.push(`handler: sent ${raw.headersSent}, ended ${raw.writableEnded}`);
    }
  }

  let app: IdempotentApp;

  /** An access log, and what measures the time of an answer, as such middleware is written. */
  function observe(_request: IncomingMessage, response: ServerResponse, next: () => void): void {
    const { end, writeHead } = response;
    response.once('finish', () => {
      events.push(`finish ${response.statusCode}`);
      recordsAtFinish.push(app.records.count());
    });
    response.on('close', () => events.push(`close ${response.statusCode}`));
    response.end = function (this: ServerResponse, ...args: unknown[]) {
      events.push(`end ${response.statusCode}`);
      return (end as Function).apply(this, args);
    } as typeof end;
    response.writeHead = function (this: ServerResponse, ...args: unknown[]) {
      events.push('writeHead');
      response.setHeader('X-Response-Time', `${events.length}`);
      return (writeHead as Function).apply(this, args);
    } as typeof writeHead;
    next();
  }

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [EventsController],
      configure: (nest) => void nest.use(observe),
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    events = [];
    recordsAtFinish = [];
    await app.effects.clear();
    await app.records.clear();
  });

  const closed = () => eventually(() => expect(events).toContainEqual(expect.stringMatching(/^close/)));

  async function observed(request: Parameters<IdempotentApp['post']>[0]) {
    events = [];
    const response = await app.post(request);
    await closed();
    return { response, events: events.filter((event) => !event.startsWith('handler')) };
  }

  it.each([
    ['/json', 201],
    ['/file', 201],
    ['/refused', 403],
  ])(
    'middleware hears once of the answer of %s, and once of its replay, with the final status',
    async (path, status) => {
      const key = newKey();
      const first = await observed({ key, path });
      const second = await observed({ key, path });

      for (const { response, events: heard } of [first, second]) {
        expect(response.status).toBe(status);
        expect(heard).toEqual([`end ${status}`, 'writeHead', `finish ${status}`, `close ${status}`]);
        expect(response.headers['x-response-time']).toBe('2');
      }
      const [record] = await app.records.find();
      if (mode === 'lease' || status === 201) {
        expect(await Promise.all(recordsAtFinish)).toEqual([1, 1]);
        expect(record!.headers).not.toMatch(/response-time/i);
      }
    },
  );

  it('middleware hears once of the answers that the library gives', async () => {
    const key = newKey();
    await observed({ key, path: '/json' });
    const reused = await observed({ key, path: '/json', body: { other: true } });
    const missing = await observed({ key: null, path: '/json' });

    expect(reused.events.toSorted()).toEqual(['close 422', 'end 422', 'finish 422', 'writeHead']);
    expect(missing.events.toSorted()).toEqual(['close 400', 'end 400', 'finish 400', 'writeHead']);
  });

  it('what a handler listens to is told once, in the order of Node, before the answer is recorded', async () => {
    const { response } = await observed({ path: '/listening' });

    expect(response.text).toBe('one two');
    expect(events.filter((event) => event.startsWith('handler'))).toEqual([
      'handler: sent false, ended false',
      'handler: sent true, ended false',
      'handler: sent true, ended true',
      'handler: finish, sent true, ended true',
      'handler: close',
    ]);
    expect(events.filter((event) => !event.startsWith('handler'))).toEqual([
      'end 201',
      'writeHead',
      'finish 201',
      'close 201',
    ]);
  });

  it('C34: middleware hears once that a client has left, when its request is over', async () => {
    const request = app.post({ path: '/json', body: { delay: 300 }, signal: AbortSignal.timeout(100) });
    await expect(request).rejects.toThrow();
    await closed();

    expect(events.filter((event) => event.startsWith('close'))).toHaveLength(1);
    expect(events.filter((event) => event.startsWith('finish')).length).toBeLessThanOrEqual(1);
    expect(await app.effects.count()).toBe(1);
  });
});
