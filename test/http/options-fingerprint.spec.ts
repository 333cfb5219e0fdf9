import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, Post, type PipeTransform } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

class StampingPipe implements PipeTransform {
  transform = (body: object) => Object.assign(body, { stamp: Math.random() });
}

const sentAt = (time: string, amount = 100) => ({ amount, sentAt: time });

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  @Idempotent({ mode })
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    create(@Body(StampingPipe) _body: object) {
      return this.effects.save({ name: 'order' });
    }

    @Post('without-time')
    @Idempotent({ fingerprint: (body) => ({ ...body, sentAt: undefined }) })
    withoutTime(@Body(StampingPipe) _body: object) {
      return this.effects.save({ name: 'order' });
    }

    @Post('for-tenant')
    @Idempotent({
      fingerprint: async ({ amount }, context) => [
        amount,
        context.switchToHttp().getRequest().headers['x-tenant'],
      ],
    })
    forTenant() {
      return this.effects.save({ name: 'order' });
    }

    @Post('anything')
    @Idempotent({ fingerprint: () => undefined })
    anything() {
      return this.effects.save({ name: 'order' });
    }

    @Post('broken')
    @Idempotent({
      fingerprint: () => {
        throw new TypeError('no such field');
      },
    })
    broken() {
      return this.effects.save({ name: 'order' });
    }

    @Post('not-json')
    @Idempotent({ fingerprint: ({ amount }) => ({ amount: BigInt(amount) }) })
    notJson() {
      return this.effects.save({ name: 'order' });
    }
  }
  return OrdersController;
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [controllerFor(mode)] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
    app.log.clear();
  });

  it('C20: by default a field that changes per attempt makes another request, and what pipes add does not', async () => {
    const key = newKey();
    const first = await app.post({ key, body: sentAt('09:00') });

    expect(first.status).toBe(201);
    expectReplay(await app.post({ key, body: sentAt('09:00') }), first);
    expectProblem(await app.post({ key, body: sentAt('09:01') }), 422, 'IDEMPOTENCY_KEY_REUSED');
  });

  it('C20: fingerprint leaves such a field out, and the rest of the body counts', async () => {
    const key = newKey();
    const path = '/without-time';
    const first = await app.post({ key, path, body: sentAt('09:00') });

    expect(first.status).toBe(201);
    expectReplay(await app.post({ key, path, body: sentAt('09:01') }), first);
    expectProblem(await app.post({ key, path, body: sentAt('09:00', 200) }), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await app.effects.count()).toBe(1);
  });

  it('C20: fingerprint can take something else of the request in', async () => {
    const key = newKey();
    const post = (tenant: string, note: string) =>
      app.post({ key, path: '/for-tenant', body: { amount: 100, note }, headers: { 'X-Tenant': tenant } });
    const first = await post('acme', 'one');

    expect(first.status).toBe(201);
    expectReplay(await post('acme', 'two'), first);
    expectProblem(await post('other', 'one'), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await app.effects.count()).toBe(1);
  });

  it('C20: path and query count whatever fingerprint returns', async () => {
    const key = newKey();
    const first = await app.post({ key, path: '/anything', body: { a: 1 } });

    expectReplay(await app.post({ key, path: '/anything', body: { b: 2 } }), first);
    expectProblem(await app.post({ key, path: '/anything?dry=1' }), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await app.effects.count()).toBe(1);
  });

  it.each(['/broken', '/not-json'])(
    'C20: when fingerprint of %s fails, nothing is executed',
    async (path) => {
      const key = newKey();
      const answers = [await app.post({ key, path }), await app.post({ key, path })];

      expect(answers.map(({ status }) => status)).toEqual([500, 500]);
      expect(app.log.messages('error').length).toBeGreaterThan(0);
      expect(await app.effects.count()).toBe(0);
      expect(await app.records.count()).toBe(0);
    },
  );
});
