import {
  Idempotent,
  IdempotencyContext,
  IdempotencyReleaseRefusedError,
  IdempotencyService,
  type IdempotencyTarget,
  type IdempotentContext,
} from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, HttpCode, Param, Post } from '@nestjs/common';

import { closeClean } from '../support/clean-close.js';
import { errorOf } from '../support/error-of.js';
import { Gate } from '../support/gate.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { endRetention, lapseLease } from '../support/lapsed-lease.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

const target = (key: string): IdempotencyTarget => ({ scope: 'ann', operation: 'POST /orders/:id/pay', key });

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;
  let service: IdempotencyService;
  const gate = new Gate();

  @Controller('orders')
  class OrdersController {
    @Post(':orderId/pay')
    @HttpCode(202)
    @Idempotent({ mode })
    async pay(@Param('orderId') id: string, @IdempotencyContext() context: IdempotentContext) {
      const charge = await context.step('charge', () => `charge of ${id}`);
      await gate.pass();
      await app.effects.save({ name: charge });
      return charge;
    }
  }

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [OrdersController] });
    service = app.app.get(IdempotencyService);
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    app.log.clear();
    await Promise.all([app.effects.clear(), app.records.clear()]);
  });

  const pay = (key: string) => app.post({ key, path: '/orders/7/pay', headers: { 'X-User': 'ann' } });

  it('find() shows the state, attempt and times of a completed record, by whatever name its parameter has', async () => {
    const key = newKey();
    const before = new Date(Date.now() - 60_000);
    await pay(key);
    const record = await service.find(target(key));
    const byOtherName = await service.find({ ...target(key), operation: 'POST /orders/:orderId/pay' });
    const byStoredName = await service.find({ ...target(key), operation: 'POST /orders/:1/pay' });

    expect(record).toMatchObject({
      state: 'completed',
      scope: 'ann',
      operation: 'POST /orders/:1/pay',
      key,
      attempt: 1,
      status: 202,
      steps: mode === 'lease' ? '{"charge":{"result":"charge of 7"}}' : null,
    });
    expect(record!.owner).toMatch(/^[0-9a-f-]{36}$/);
    expect(record!.createdAt.getTime()).toBeGreaterThan(before.getTime());
    expect(record!.completedAt!.getTime()).toBeGreaterThanOrEqual(record!.createdAt.getTime());
    expect(record!.expiresAt.getTime() - record!.completedAt!.getTime()).toBe(24 * 3_600_000);
    expect(record!.lockExpiresAt instanceof Date).toBe(mode === 'lease');
    expect(record).not.toHaveProperty('body');
    expect(record).not.toHaveProperty('fingerprint');
    expect(byOtherName).toEqual(record);
    expect(byStoredName).toEqual(record);
  });

  it('find() of a key that was never used, or by somebody else, finds nothing', async () => {
    const key = newKey();
    await pay(key);

    expect(await service.find(target(newKey()))).toBeUndefined();
    expect(await service.find({ ...target(key), scope: 'bob' })).toBeUndefined();
    expect(await service.find({ ...target(key), operation: 'POST /orders/:id/refund' })).toBeUndefined();
  });

  it('find() tells an expired record from others', async () => {
    const key = newKey();
    await pay(key);
    await endRetention(app, key);

    expect(await service.find(target(key))).toMatchObject({ state: 'expired' });
  });

  it('release() of a completed record is refused, and the record still replayed', async () => {
    const key = newKey();
    await pay(key);
    const error = await errorOf(service.release(target(key), 'ann@example.com'));

    expect(error).toBeInstanceOf(IdempotencyReleaseRefusedError);
    expect(error).toMatchObject({ state: 'completed' });
    expect(String(error)).toMatch(
      'The record of this key is completed, and only an abandoned one may be released.',
    );
    expect((await pay(key)).headers['idempotent-replayed']).toBe('true');
    expect(await app.effects.count()).toBe(1);
    expect(app.log.messages('warn')).toEqual([]);
  });

  it('release() of a key without a record is refused', async () => {
    const error = await errorOf(service.release(target(newKey()), 'ann@example.com'));

    expect(error).toBeInstanceOf(IdempotencyReleaseRefusedError);
    expect((error as IdempotencyReleaseRefusedError).state).toBeUndefined();
    expect(String(error)).toMatch('There is no record of this key');
  });

  it.each([[''], [undefined], [{}]])(
    'a scope that names nobody (%p) is an error, and never everybody',
    async (scope) => {
      const unclear = { ...target(newKey()), scope: scope as string };

      expect(await errorOf((async () => service.find(unclear))())).toMatchObject({
        code: 'IDEMPOTENCY_SCOPE_UNRESOLVED',
      });
      expect(await errorOf(service.release(unclear, 'ann'))).toMatchObject({
        code: 'IDEMPOTENCY_SCOPE_UNRESOLVED',
      });
    },
  );

  if (mode === 'lease') {
    it('release() of a live attempt is refused, and the attempt goes on', async () => {
      const key = newKey();
      gate.close();
      const running = pay(key);
      await gate.arrival();
      const found = await service.find(target(key));
      const error = await errorOf(service.release(target(key), 'ann@example.com'));
      gate.open();
      const answer = await running;

      expect(found).toMatchObject({ state: 'in-flight', attempt: 1, completedAt: null, status: null });
      expect(found!.lockExpiresAt!.getTime()).toBeGreaterThan(found!.createdAt.getTime());
      expect(error).toBeInstanceOf(IdempotencyReleaseRefusedError);
      expect(error).toMatchObject({ state: 'in-flight' });
      expect(answer.status).toBe(202);
      expect((await pay(key)).headers['idempotent-replayed']).toBe('true');
    });

    it('release() frees an abandoned record: a retry executes, the late end is refused, and the log says who', async () => {
      const key = newKey();
      gate.close();
      const running = pay(key);
      await gate.arrival();
      await lapseLease(app, key);
      const found = await service.find(target(key));
      const refused = await pay(key);
      await service.release(target(key), 'ann@example.com');
      const gone = await service.find(target(key));
      gate.open();
      const stale = await running;
      const retried = await pay(key);

      expect(found).toMatchObject({ state: 'abandoned', steps: '{"charge":{"result":"charge of 7"}}' });
      expect(refused.status).toBe(409);
      expect(refused.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
      expect(gone).toBeUndefined();
      expect(stale.status).toBe(503);
      expect(stale.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
      expect(retried.status).toBe(202);
      expect(retried.headers).not.toHaveProperty('idempotent-replayed');
      const [line] = app.log.messages('warn').filter((message) => message.includes('released'));
      expect(line).toBe(
        `ann@example.com released the abandoned record of POST /orders/:1/pay, scope ann, key ${key}.`,
      );
    });
  } else {
    it('find() sees nothing of a transaction in flight, and release() is refused', async () => {
      const key = newKey();
      gate.close();
      const running = pay(key);
      await gate.arrival();
      const found = await service.find(target(key));
      const error = await errorOf(service.release(target(key), 'ann@example.com'));
      gate.open();

      expect(found).toBeUndefined();
      expect(error).toBeInstanceOf(IdempotencyReleaseRefusedError);
      expect((await running).status).toBe(202);
    });
  }
});
