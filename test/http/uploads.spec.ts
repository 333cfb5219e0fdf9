import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Post, UseInterceptors, type INestApplication } from '@nestjs/common';
import { AnyFilesInterceptor, FileFieldsInterceptor, FileInterceptor } from '@nestjs/platform-express';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InjectRepository } from '@nestjs/typeorm';
import type { Readable } from 'node:stream';
import { Repository } from 'typeorm';

import type { AdapterName } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { multipart, parseMultipart } from '../support/multipart.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

/** Passes files on as they come, as storages for object stores do. */
const elsewhere = {
  _handleFile(
    _request: unknown,
    { stream }: { stream: Readable },
    done: (error: null, file: object) => void,
  ) {
    stream.resume().once('end', () => done(null, { path: 'elsewhere' }));
  },
  _removeFile(_request: unknown, _file: unknown, done: (error: null) => void) {
    done(null);
  },
};

/** On Fastify a content type parser reads uploads, before any interceptor. */
const reads = (adapter: AdapterName, interceptor: Parameters<typeof UseInterceptors>[0]): MethodDecorator =>
  adapter === 'express' ? UseInterceptors(interceptor) : () => undefined;

function controllersFor(adapter: AdapterName, mode: IdempotencyMode) {
  class Receipts {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    save() {
      return this.effects.save({ name: 'receipt' });
    }
  }

  @Controller('receipts')
  class ReceiptsController extends Receipts {
    @Post()
    @Idempotent({ mode })
    @reads(adapter, FileInterceptor('receipt'))
    create() {
      return this.save();
    }

    @Post('any')
    @Idempotent({ mode })
    @reads(adapter, AnyFilesInterceptor())
    createAny() {
      return this.save();
    }

    @Post('named')
    @Idempotent({ mode })
    @reads(adapter, FileFieldsInterceptor([{ name: 'receipt' }, { name: 'photo' }]))
    createNamed() {
      return this.save();
    }
  }

  @Controller('covered')
  @Idempotent({ mode })
  class CoveredController extends Receipts {
    @Post()
    @reads(adapter, FileInterceptor('receipt'))
    create() {
      return this.save();
    }
  }

  @Controller('unread')
  class UnreadController extends Receipts {
    @Post()
    @reads(adapter, FileInterceptor('receipt'))
    @Idempotent({ mode })
    create() {
      return this.save();
    }

    @Post('elsewhere')
    @Idempotent({ mode })
    @UseInterceptors(FileInterceptor('receipt', { storage: elsewhere }))
    createElsewhere() {
      return this.save();
    }
  }
  return [ReceiptsController, CoveredController, UnreadController];
}

function readUploads(app: INestApplication): void {
  const fastify = (app as NestFastifyApplication).getHttpAdapter().getInstance();
  fastify.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (request, body, done) => {
    done(null, parseMultipart(body as Buffer, request.headers['content-type']!));
  });
}

const upload = (receipt: string, amount = '100', filename = 'receipt.pdf') =>
  multipart([
    { name: 'amount', content: amount },
    { name: 'receipt', content: receipt, filename },
  ]);

const files = (receipt: string, photo: string) =>
  multipart([
    { name: 'receipt', content: receipt, filename: 'a.pdf' },
    { name: 'photo', content: photo, filename: 'a.pdf' },
  ]);

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: controllersFor(adapter, mode),
      configure: adapter === 'fastify' ? readUploads : () => undefined,
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
    app.log.clear();
  });

  it.each(['/receipts', '/receipts/any', '/receipts/named', '/covered'])(
    'C19: an upload to %s with the same fields and another file is refused, and a retry is replayed',
    async (path) => {
      const key = newKey();
      const first = await app.post({ key, path, ...upload('100 EUR') });
      const otherFile = await app.post({ key, path, ...upload('900 EUR') });
      const otherField = await app.post({ key, path, ...upload('100 EUR', '900') });
      const retry = await app.post({ key, path, ...upload('100 EUR') });

      expect(first.status).toBe(201);
      expectProblem(otherFile, 422, 'IDEMPOTENCY_KEY_REUSED');
      expectProblem(otherField, 422, 'IDEMPOTENCY_KEY_REUSED');
      expectReplay(retry, first);
      expect(await app.effects.count()).toBe(1);
    },
  );

  it('C19: each of several files counts, and so does the field that it is in', async () => {
    const key = newKey();
    const path = '/receipts/named';
    const first = await app.post({ key, path, ...files('one', 'two') });
    const otherPhoto = await app.post({ key, path, ...files('one', 'three') });
    const exchanged = await app.post({ key, path, ...files('two', 'one') });

    expect(first.status).toBe(201);
    expectProblem(otherPhoto, 422, 'IDEMPOTENCY_KEY_REUSED');
    expectProblem(exchanged, 422, 'IDEMPOTENCY_KEY_REUSED');
    expectReplay(await app.post({ key, path, ...files('one', 'two') }), first);
    expect(await app.effects.count()).toBe(1);
  });

  if (adapter === 'express') {
    describe('with an upload that nothing has read into memory when the key is claimed', () => {
      it.each([
        ['/unread', 'create'],
        ['/unread/elsewhere', 'createElsewhere'],
      ])(
        'C19: %s is answered with 500 before its handler, and the log says what to do',
        async (path, method) => {
          const answer = await app.post({ path, ...upload('100 EUR') });

          expectProblem(answer, 500, 'IDEMPOTENCY_BODY_UNPARSED');
          expect(await app.effects.count()).toBe(0);
          expect(await app.records.count()).toBe(0);
          const [message] = app.log.messages('error');
          expect(message).toMatch(`UnreadController.${method} (multipart/form-data)`);
          expect(message).toMatch(
            /@Idempotent\(\) above @UseInterceptors\(FileInterceptor.*in memory.*`fingerprint`/s,
          );
        },
      );
    });
  }
});
