import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Post, Put } from '@nestjs/common';

import { onEachAdapter } from '../support/adapters.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

const HOUR = 3_600_000;

@Controller('plain')
class PlainController {
  @Post()
  @Idempotent()
  create() {
    return 'created';
  }

  @Post('handler')
  @Idempotent({ ttl: '3h' })
  withHandlerOption() {
    return 'created';
  }
}

@Controller('class')
@Idempotent({ ttl: '2h', header: 'X-Class-Key', scope: () => 'of the class' })
class DecoratedController {
  @Post()
  create() {
    return 'created';
  }

  @Post('handler')
  @Idempotent({ ttl: '3h' })
  withHandlerOption() {
    return 'created';
  }

  @Put('handler')
  @Idempotent({ header: 'X-Handler-Key', operation: 'of the handler' })
  otherHandlerOption() {
    return 'created';
  }

  @Post('undefined')
  @Idempotent({ ttl: undefined, scope: undefined })
  withUndefined() {
    return 'created';
  }
}

@Controller('inherited')
class InheritingController extends DecoratedController {}

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [PlainController, DecoratedController, InheritingController],
      options: { ttl: '1h', header: 'X-Module-Key', scope: () => 'of the module' },
    });
  });
  afterAll(() => app.close());

  it.each<[string, string, string, number, string, string]>([
    ['POST', '/plain', 'X-Module-Key', 1, 'of the module', 'POST /plain'],
    ['POST', '/plain/handler', 'X-Module-Key', 3, 'of the module', 'POST /plain/handler'],
    ['POST', '/class', 'X-Class-Key', 2, 'of the class', 'POST /class'],
    ['POST', '/class/handler', 'X-Class-Key', 3, 'of the class', 'POST /class/handler'],
    ['PUT', '/class/handler', 'X-Handler-Key', 2, 'of the class', 'of the handler'],
    ['POST', '/class/undefined', 'X-Class-Key', 2, 'of the class', 'POST /class/undefined'],
    ['POST', '/inherited', 'X-Class-Key', 2, 'of the class', 'POST /inherited'],
    ['POST', '/inherited/handler', 'X-Class-Key', 3, 'of the class', 'POST /inherited/handler'],
  ])(
    'merges the options of %s %s field by field, handler over class over module',
    async (method, path, header, hours, scope, operation) => {
      const key = newKey();
      const headers = { 'X-Module-Key': '', 'X-Class-Key': '', 'X-Handler-Key': '', [header]: key };
      const answer = await app.post({ key: null, method, path, headers });

      expect(answer.status).toBe(method === 'POST' ? 201 : 200);
      const record = await app.records.findOneByOrFail({ key });
      const retention = record.expiresAt.getTime() - record.completedAt!.getTime();
      expect(Math.round(retention / HOUR)).toBe(hours);
      expect(record).toMatchObject({ scope, operation });
    },
  );
});
