import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, InternalServerErrorException, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  class OrdersController {
    static failures = 0;

    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    @Idempotent({ mode })
    async create(@Body() body: { delay?: number }) {
      await sleep(body.delay ?? 0);
      const { id } = await this.effects.save({ name: 'order' });
      return { id, body };
    }

    @Post('short')
    @Idempotent({ mode, ttl: '1s' })
    async short() {
      return this.effects.save({ name: 'short' });
    }

    @Post('failing')
    @Idempotent({ mode })
    async failing() {
      const effect = await this.effects.save({ name: 'failing' });
      OrdersController.failures += 1;
      if (OrdersController.failures === 1) {
        throw new InternalServerErrorException('out of luck');
      }
      return effect;
    }
  }
  return OrdersController;
}

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    const controller = controllerFor(mode);
    let app: IdempotentApp;

    beforeAll(async () => {
      app = await startIdempotentApp({ adapter, controllers: [controller] });
    });
    afterAll(() => app.close());
    beforeEach(() => app.effects.clear());

    it('A1: the same request twice has one effect and one answer, and the second is marked', async () => {
      const key = newKey();
      const first = await app.post({ key });
      const second = await app.post({ key });

      expect(first.status).toBe(201);
      expect(first.headers).not.toHaveProperty('idempotent-replayed');
      expect(second.status).toBe(201);
      expect(second.body.equals(first.body)).toBe(true);
      expect(second.headers['content-type']).toBe(first.headers['content-type']);
      expect(second.headers['idempotent-replayed']).toBe('true');
      expect(await app.effects.count()).toBe(1);
    });

    it('A2: another body under the same key is refused, and the first result is still replayed', async () => {
      const key = newKey();
      const first = await app.post({ key });
      const other = await app.post({ key, body: { amount: 200 } });
      const again = await app.post({ key });

      expect(other.status).toBe(422);
      expect(other.headers['content-type']).toMatch('application/problem+json');
      expect(other.json()).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
      expect(again.body.equals(first.body)).toBe(true);
      expect(await app.effects.count()).toBe(1);
    });

    it('A3: a duplicate of a request in flight is told to wait, and gets the first result later', async () => {
      const key = newKey();
      const running = app.post({ key, body: { delay: 800 } });
      await sleep(300);
      const duplicate = await app.post({ key, body: { delay: 800 } });
      const first = await running;
      const later = await app.post({ key, body: { delay: 800 } });

      expect(duplicate.status).toBe(409);
      expect(duplicate.headers['retry-after']).toBe('1');
      expect(duplicate.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
      expect(later.body.equals(first.body)).toBe(true);
      expect(await app.effects.count()).toBe(1);
    });

    it('A4: a request without a key is refused where one is required', async () => {
      const answer = await app.post({ key: null });

      expect(answer.status).toBe(400);
      expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REQUIRED' });
      expect(await app.effects.count()).toBe(0);
    });

    it('A5: a client that gave up gets the first result, also when it retries while the first still runs', async () => {
      const key = newKey();
      const body = { delay: 600 };
      const gaveUp = app.post({ key, body, signal: AbortSignal.timeout(150) });
      await expect(gaveUp).rejects.toThrow();
      const early = await app.post({ key, body });
      await sleep(900);
      const late = await app.post({ key, body });

      expect(early.status).toBe(409);
      expect(late.status).toBe(201);
      expect(late.headers['idempotent-replayed']).toBe('true');
      expect(await app.effects.count()).toBe(1);
    });

    it('A6: after the retention the key executes anew, although no purge has run', async () => {
      const key = newKey();
      const first = await app.post({ key, path: '/short' });
      await sleep(1_200);
      const second = await app.post({ key, path: '/short' });

      expect(second.status).toBe(201);
      expect(second.headers).not.toHaveProperty('idempotent-replayed');
      expect(second.json().id).not.toBe(first.json().id);
      expect(await app.effects.count()).toBe(2);
    });

    it('A7: after a 500 the key executes again (transaction), or replays the 500 (lease)', async () => {
      controller.failures = 0;
      const key = newKey();
      const first = await app.post({ key, path: '/failing' });
      const second = await app.post({ key, path: '/failing' });

      expect(first.status).toBe(500);
      expect(second.status).toBe(mode === 'transaction' ? 201 : 500);
      expect(second.headers['idempotent-replayed']).toBe(mode === 'transaction' ? undefined : 'true');
      expect(second.body.equals(first.body)).toBe(mode === 'lease');
      expect(await app.effects.count()).toBe(1);
    });
  });
});
