import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Catch,
  Controller,
  HttpException,
  Injectable,
  Param,
  Post,
  type ArgumentsHost,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import { mergeMap } from 'rxjs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

/** Keeps a record of what was refused, in the same database. */
@Injectable()
@Catch(HttpException)
class AuditFilter extends BaseExceptionFilter {
  constructor(
    @InjectRepository(Effect) readonly effects: Repository<Effect>,
    adapterHost: HttpAdapterHost,
  ) {
    super(adapterHost.httpAdapter);
  }

  override async catch(error: HttpException, host: ArgumentsHost) {
    await this.effects.save({ name: `audit ${error.getStatus()}` });
    super.catch(error, host);
  }
}

/** Keeps a record of what was done, in the same database. */
@Injectable()
class AuditInterceptor implements NestInterceptor {
  constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(
      mergeMap(async (value) => {
        await this.effects.save({ name: 'audit 201' });
        return value;
      }),
    );
  }
}

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class PaymentsController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post(':status')
    @Idempotent({ mode, transactionTimeout: '4s' })
    async pay(@Param('status') status: string) {
      await this.effects.save({ name: 'payment' });
      if (status !== '201') throw new HttpException('refused', Number(status));
      return 'paid';
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [PaymentsController],
      providers: [
        { provide: APP_FILTER, useClass: AuditFilter },
        { provide: APP_INTERCEPTOR, useClass: AuditInterceptor },
      ],
      dataSource: { poolSize: 2 },
    });
  });
  afterAll(() => app.close());
  beforeEach(() => app.effects.clear());

  it.each([201, 402, 429, 500])(
    'requests that outnumber the pool all finish with %s, although what is around the handler writes too',
    async (status) => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => app.post({ path: `/${status}` })));

      expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(status));
      expect(await app.effects.countBy({ name: `audit ${status}` })).toBe(8);
      const isKept = status === 201 || mode === 'lease';
      expect(await app.effects.countBy({ name: 'payment' })).toBe(isKept ? 8 : 0);
    },
  );
});
