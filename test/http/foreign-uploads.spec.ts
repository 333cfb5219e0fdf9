import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post, type INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InjectRepository } from '@nestjs/typeorm';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Repository } from 'typeorm';

import type { AdapterName } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { multipart } from '../support/multipart.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  class ReceiptsController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    @Idempotent({ mode })
    create() {
      return this.effects.save({ name: 'receipt' });
    }
  }
  return ReceiptsController;
}

const filesOf = (data: Buffer) => ({ receipt: { name: 'receipt.pdf', data, mimetype: 'application/pdf' } });

/** As express-fileupload leaves them: fields in the body, files beside it, and nothing that multer would set. */
function readFilesAnotherWay(adapter: AdapterName, app: INestApplication): void {
  if (adapter === 'express') {
    app.use(async (request: IncomingMessage, _response: unknown, next: () => void) => {
      Object.assign(request, { body: { amount: '100' }, files: filesOf(await buffer(request)) });
      next();
    });
    return;
  }
  const fastify = (app as NestFastifyApplication).getHttpAdapter().getInstance();
  fastify.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (request, body, done) => {
    Object.assign(request, { files: filesOf(body as Buffer) });
    done(null, { amount: '100' });
  });
}

const upload = (content: string) => multipart([{ name: 'receipt', content, filename: 'receipt.pdf' }]);

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [controllerFor(mode)],
      configure: (nest) => readFilesAnotherWay(adapter, nest),
    });
  });
  afterAll(() => app.close());

  it('C19: another file with the same fields is not answered with a replay, whatever has read the files', async () => {
    const key = newKey();
    await app.post({ key, ...upload('100 EUR') });
    const other = await app.post({ key, ...upload('900 EUR') });

    expect([422, 500]).toContain(other.status);
    expect(other.headers).not.toHaveProperty('idempotent-replayed');
    expect(await app.effects.count()).toBeLessThan(2);
  });
});
