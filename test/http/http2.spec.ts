import { Idempotent, IdempotencyModule, IdempotencyRecord } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  HttpCode,
  Post,
  Res,
  StreamableFile,
  UnprocessableEntityException,
  type INestApplication,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, IsNull, Repository } from 'typeorm';

import { CapturedLog } from '../support/captured-log.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { MODES } from '../support/replay.js';

async function* slowly(...parts: string[]): AsyncGenerator<string> {
  for (const part of parts) {
    yield part;
    await sleep(150);
  }
}

describe.each(MODES)('HTTP/2 on Fastify in %s mode', (mode) => {
  @Controller()
  class Http2Controller {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('json')
    @Idempotent({ mode })
    async json() {
      const { id } = await this.effects.save({ name: 'json' });
      return { id };
    }

    @Post('empty')
    @HttpCode(204)
    @Idempotent({ mode })
    async empty() {
      await this.effects.save({ name: 'empty' });
    }

    @Post('file')
    @Idempotent({ mode })
    async file() {
      await this.effects.save({ name: 'file' });
      return new StreamableFile(Readable.from(['one ', 'two']), { type: 'text/csv' });
    }

    @Post('send')
    @Idempotent({ mode })
    async send(@Res() response: any) {
      await this.effects.save({ name: 'send' });
      response.status(202).header('X-Custom', 'mine').send('sent');
    }

    @Post('raw')
    @Idempotent({ mode })
    async raw(@Res() response: any) {
      await this.effects.save({ name: 'raw' });
      response.hijack();
      response.raw.writeHead(202, { 'x-custom': 'mine' });
      await pipeline(Readable.from(['raw ', 'bytes']), response.raw);
    }

    @Post('refused')
    @Idempotent({ mode })
    async refused() {
      await this.effects.save({ name: 'refused' });
      throw new UnprocessableEntityException('sold out');
    }

    @Post('slow')
    @Idempotent({ mode })
    async slow() {
      await this.effects.save({ name: 'slow' });
      await sleep(300);
      return 'slow';
    }

    @Post('slow-raw')
    @Idempotent({ mode })
    async slowRaw(@Res() response: any) {
      await this.effects.save({ name: 'slow' });
      response.hijack();
      response.raw.writeHead(201);
      await pipeline(Readable.from(slowly('sl', 'ow')), response.raw);
    }
  }

  let database: TestDatabase;
  let nest: INestApplication;
  let dataSource: DataSource;
  let session: ClientHttp2Session;

  beforeAll(async () => {
    database = await createTestDatabase();
    const module = await Test.createTestingModule({
      controllers: [Http2Controller],
      imports: [
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: database.url,
          synchronize: true,
          retryAttempts: 0,
          entities: [IdempotencyRecord, Effect],
        }),
        TypeOrmModule.forFeature([Effect]),
        IdempotencyModule.forRoot({ scope: false }),
      ],
    })
      .setLogger(new CapturedLog())
      .compile();
    nest = module.createNestApplication(new FastifyAdapter({ http2: true }), { logger: new CapturedLog() });
    await nest.listen(0, '127.0.0.1');
    dataSource = nest.get(DataSource);
  });
  afterAll(async () => {
    await nest.close();
    await database.drop();
  });
  beforeEach(async () => {
    await dataSource.getRepository(Effect).clear();
    session = connect((await nest.getUrl()).replace('[::1]', 'localhost'));
  });
  afterEach(() => void session.close());

  function begin(path: string, key: string): ClientHttp2Stream {
    const head = {
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/json',
      'idempotency-key': key,
    };
    return session.request(head).end('{"amount":100}');
  }

  async function post(path: string, key: string) {
    const stream = begin(path, key);
    const [headers] = await once(stream, 'response');
    return { status: headers[':status'], headers, body: await buffer(stream) };
  }

  it.each([
    ['/json', 201],
    ['/empty', 204],
    ['/file', 201],
    ['/send', 202],
    ['/raw', 202],
    ['/refused', 422],
  ])('the answer of %s is replayed', async (path, status) => {
    const key = newKey();
    const first = await post(path, key);
    const second = await post(path, key);

    expect(first.status).toBe(status);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(second.status).toBe(status);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
    expect(second.headers['x-custom']).toBe(first.headers['x-custom']);
    expect(second.body.equals(first.body)).toBe(true);
    const isUndone = mode === 'transaction' && status === 422;
    expect(await dataSource.getRepository(Effect).count()).toBe(isUndone ? 0 : 1);
  });

  it.each(['/slow', '/slow-raw'])(
    'C34: a client that gives up on %s gets the first result later',
    async (path) => {
      const key = newKey();
      const stream = begin(path, key);
      await sleep(100);
      stream.close();
      await sleep(300);
      await eventually(async () => {
        expect(await openTransactions(dataSource)).toBe(0);
        expect(await dataSource.getRepository(IdempotencyRecord).countBy({ completedAt: IsNull() })).toBe(0);
      });
      const retry = await post(path, key);

      expect(retry.status).toBe(201);
      expect(retry.headers['idempotent-replayed']).toBe('true');
      expect(retry.body.toString()).toBe('slow');
      expect(await dataSource.getRepository(Effect).count()).toBe(1);
    },
  );
});
