import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, type NestInterceptor, Post, UseInterceptors } from '@nestjs/common';
import {
  Idempotent,
  IdempotencyContext,
  IdempotencyService,
  type IdempotentContext,
} from '@exactly-once/nestjs';
import { retry } from 'rxjs';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

const twice: NestInterceptor = { intercept: (_, next) => next.handle().pipe(retry(1)) };

onEachAdapter((adapter) => {
  let app: IdempotentApp;
  let calls: string[];

  @Controller()
  class PaymentsController {
    constructor(private readonly idempotency: IdempotencyService) {}

    /** Its first call fails after the first step. */
    @Post('repeated')
    @Idempotent({ mode: 'lease' })
    @UseInterceptors(twice)
    async repeated(@IdempotencyContext() context: IdempotentContext) {
      const charge = await context.step('charge', () => calls.push('charge'));
      if (calls.length === 1) {
        calls.push('failed');
        throw new Error('a fault that passes');
      }
      return [charge, await context.step('mail', () => calls.push('mail'))];
    }

    /** A service that its step calls has work of its own to do once. */
    @Post('within')
    @Idempotent({ mode: 'lease' })
    within(@IdempotencyContext() context: IdempotentContext) {
      return context.step('notify', (stepKey) =>
        this.idempotency.run(
          { scope: 'mails', operation: 'send-mail', key: stepKey },
          async (inner) => [
            await inner.step('render', () => calls.push('render')),
            await inner.transactionalStep(
              'note',
              async () => (await app.effects.save({ name: 'mail' })).name,
            ),
          ],
          { mode: 'lease' },
        ),
      );
    }
  }

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [PaymentsController] });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => {
    calls = [];
  });

  it('a handler that is called again under its claim gets the results of the steps that are done', async () => {
    const answer = await app.post({ path: '/repeated' });

    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual([1, 3]);
    expect(calls).toEqual(['charge', 'failed', 'mail']);
  });

  it('steps of another attempt that runs inside a step are not steps inside a step', async () => {
    const answer = await app.post({ path: '/within' });

    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual([1, 'mail']);
    expect(await app.effects.count()).toBe(1);
  });
});
