import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Body, Controller, ForbiddenException, Post, Res, StreamableFile } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InjectRepository } from '@nestjs/typeorm';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { IsNull, Repository } from 'typeorm';

import { Connection } from '../support/connection.js';
import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

// What Fastify's inject() reads request cookies with is an ES module loaded by require(), which Jest cannot do here.
const injector = createRequire(import.meta.url).resolve('light-my-request');
jest.doMock(createRequire(injector).resolve('cookie'), () => ({}));

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class ConnectionsController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('json')
    @Idempotent({ mode })
    async json(@Body() body: { name: string; delay?: number }) {
      await sleep(body.delay ?? 0);
      return this.effects.save({ name: body.name });
    }

    @Post('raw')
    @Idempotent({ mode })
    async raw(@Body() body: { name: string; delay?: number }, @Res() response: any) {
      await this.effects.save({ name: body.name });
      await sleep(body.delay ?? 0);
      const raw = response.raw ?? response;
      raw.write('raw ');
      raw.end(body.name);
    }

    @Post('file')
    @Idempotent({ mode })
    async file(@Body() body: { name: string }) {
      await this.effects.save({ name: body.name });
      return new StreamableFile(Readable.from(['file ', body.name]));
    }

    @Post('late')
    @Idempotent({ mode })
    late(@Body() body: { name: string }, @Res() response: any) {
      setTimeout(() => response.send(body.name), 100);
    }

    @Post('refused')
    @Idempotent({ mode })
    async refused(@Body() body: { name: string }) {
      await this.effects.save({ name: body.name });
      throw new ForbiddenException(body.name);
    }
  }

  let app: IdempotentApp;
  let connection: Connection;
  let socket: Socket;
  let responses: ServerResponse[];

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [ConnectionsController],
      configure: (nest) =>
        void nest.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
          ({ socket } = request);
          responses.push(response);
          next();
        }),
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    responses = [];
    await app.effects.clear();
    await app.records.clear();
    connection = await Connection.open(app.url);
  });
  afterEach(() => connection.close());

  /** As Node 24 does by itself. */
  function destroyWaiting(): void {
    const reset = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
    responses.filter((response) => !response.socket).forEach((response) => response.destroy(reset));
  }

  const PATHS = ['/json', '/raw', '/file', '/refused'];

  it('requests of all kinds and their retries follow each other on one connection', async () => {
    for (const path of PATHS) {
      const key = newKey();
      const body = { name: path };
      connection.post(path, key, body);
      const first = await connection.read();
      connection.post(path, key, body);
      const second = await connection.read();
      connection.post(path, key, { name: 'another' });
      const other = await connection.read();

      expect(first.status).toBe(path === '/refused' ? 403 : 201);
      expect(first.headers['connection']).not.toBe('close');
      expect(second.status).toBe(first.status);
      expect(second.body).toBe(first.body);
      const isReleased = mode === 'transaction' && path === '/refused';
      expect(second.headers['idempotent-replayed']).toBe(isReleased ? undefined : 'true');
      expect(other.status).toBe(isReleased ? 403 : 422);
    }
    expect(connection.rest).toBe('');
  });

  it('pipelined requests are answered in their order, and each retry by its own record', async () => {
    const requests = PATHS.slice(0, 3).flatMap((path) => [
      { path, key: newKey(), body: { name: `slow ${path}`, delay: 100 } },
      { path, key: newKey(), body: { name: `fast ${path}` } },
    ]);
    for (const { path, key, body } of requests) connection.post(path, key, body);
    const firsts = [];
    for (const _ of requests) firsts.push(await connection.read());
    for (const { path, key, body } of requests) connection.post(path, key, body);
    const seconds = [];
    for (const _ of requests) seconds.push(await connection.read());

    expect(firsts.map((first) => first.status)).toEqual(requests.map(() => 201));
    expect(firsts.map((first) => first.body)).toEqual(
      requests.map(({ body }) => expect.stringContaining(body.name)),
    );
    expect(seconds.map((second) => second.body)).toEqual(firsts.map((first) => first.body));
    expect(seconds.map((second) => second.headers['idempotent-replayed'])).toEqual(
      requests.map(() => 'true'),
    );
    expect(await app.effects.count()).toBe(requests.length);
    expect(connection.rest).toBe('');
  });

  it('a duplicate that is pipelined behind its first request executes nothing', async () => {
    const key = newKey();
    const body = { name: 'pipelined twice', delay: 200 };
    connection.post('/json', key, body);
    connection.post('/json', key, body);
    const first = await connection.read();
    const second = await connection.read();

    // They run beside each other, so either may be the one that executes.
    const executed = first.status === 201 ? first : second;
    expect(executed.status).toBe(201);
    expect(executed.headers).not.toHaveProperty('idempotent-replayed');
    expect(executed === first ? second.status : first.status).toBe(409);
    expect(await app.effects.count()).toBe(1);
  });

  it.each<[string, () => void]>([
    ['', () => undefined],
    [', also where Node destroys the responses that wait for their turn', destroyWaiting],
  ])(
    'C34: pipelined requests whose client leaves are all completed, and their retries replay%s',
    async (_, atClose) => {
      const requests = ['/json', '/raw'].flatMap((path) => [
        { path, key: newKey(), body: { name: `first ${path}`, delay: 300 } },
        { path, key: newKey(), body: { name: `second ${path}`, delay: 300 } },
      ]);
      for (const { path, key, body } of requests) connection.post(path, key, body);
      await sleep(150);
      socket.once('close', atClose);
      connection.close();
      await eventually(async () => {
        expect(await app.records.count()).toBe(requests.length);
        expect(await app.records.countBy({ completedAt: IsNull() })).toBe(0);
        expect(await openTransactions(app.dataSource)).toBe(0);
      });

      for (const { path, key, body } of requests) {
        const retry = await app.post({ path, key, body });
        expect(retry.status).toBe(201);
        expect(retry.headers['idempotent-replayed']).toBe('true');
        expect(retry.text).toMatch(body.name);
      }
      expect(await app.effects.count()).toBe(requests.length);
    },
  );

  it('many pipelined requests leave no listeners behind on their connection', async () => {
    connection.post('/late', newKey(), { name: 'first' });
    await connection.read();
    const before = socket.listenerCount('close');
    for (let number = 0; number < 30; number += 1) connection.post('/late', newKey(), { name: `${number}` });
    for (let number = 0; number < 30; number += 1) {
      expect(await connection.read()).toMatchObject({ status: 201, body: `${number}` });
    }

    expect(socket.listenerCount('close')).toBe(before);
  });

  if (adapter === 'fastify') {
    it.each(PATHS.slice(0, 3))(
      "Fastify's inject() gets the first answer of %s and its replay",
      async (path) => {
        const fastify = (app.app as NestFastifyApplication).getHttpAdapter().getInstance();
        const request = {
          method: 'POST' as const,
          url: path,
          payload: { name: 'injected' },
          headers: { 'Idempotency-Key': newKey() },
        };
        const first = await fastify.inject(request);
        const second = await fastify.inject(request);

        expect(first.statusCode).toBe(201);
        expect(first.payload).toMatch('injected');
        expect(second.statusCode).toBe(201);
        expect(second.rawPayload.equals(first.rawPayload)).toBe(true);
        expect(second.headers['idempotent-replayed']).toBe('true');
        expect(await app.effects.count()).toBe(1);
      },
    );
  }
});
