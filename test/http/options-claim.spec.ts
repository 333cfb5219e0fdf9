import { Idempotent, IdempotencyContext, type IdempotentContext } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { Gate } from '../support/gate.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';

function controllerFor(gate: Gate) {
  @Controller()
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    private async create(attempt?: number) {
      await gate.pass();
      const { id } = await this.effects.save({ name: 'order' });
      return { id, attempt };
    }

    @Post('default')
    @Idempotent()
    byDefault() {
      return this.create();
    }

    @Post('optional')
    @Idempotent({ required: false })
    optional() {
      return this.create();
    }

    @Post('ttl')
    @Idempotent({ ttl: 90_000 })
    ttl() {
      return this.create();
    }

    @Post('lease')
    @Idempotent({ mode: 'lease' })
    lease(@IdempotencyContext() { attempt }: IdempotentContext) {
      return this.create(attempt);
    }

    @Post('long-lease')
    @Idempotent({ mode: 'lease', lockTtl: '10m' })
    longLease() {
      return this.create();
    }

    @Post('retried')
    @Idempotent({ mode: 'lease', onAbandoned: 'retry' })
    retried(@IdempotencyContext() { attempt }: IdempotentContext) {
      return this.create(attempt);
    }

    @Post('patient')
    @Idempotent({ retryAfter: '6500ms' })
    patient() {
      return this.create();
    }
  }
  return OrdersController;
}

onEachAdapter((adapter) => {
  const gate = new Gate();
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [controllerFor(gate)] });
  });
  afterAll(() => app.close());
  afterEach(() => gate.open());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  const retentionOf = async (path: string) => {
    const key = newKey();
    await app.post({ key, path });
    const { completedAt, expiresAt } = await app.records.findOneByOrFail({ key });
    return expiresAt.getTime() - completedAt!.getTime();
  };

  /** As a process leaves its record that died while its handler ran, longer ago than the lease. */
  const abandon = (key: string) =>
    app.dataSource.query(
      `UPDATE idempotency_records SET completed_at = NULL, status = NULL, headers = NULL, body = NULL,
         lock_expires_at = now() - interval '1 second' WHERE key = $1`,
      [key],
    );

  it('required: a request without a key is refused by default, and runs unprotected with false', async () => {
    const refused = await app.post({ key: null, path: '/default' });
    const answers = [
      await app.post({ key: null, path: '/optional' }),
      await app.post({ key: null, path: '/optional' }),
    ];

    expectProblem(refused, 400, 'IDEMPOTENCY_KEY_REQUIRED');
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await app.effects.count()).toBe(2);
    expect(await app.records.count()).toBe(0);
  });

  it('ttl: it is the retention of a result, 24 hours by default', async () => {
    expect(Math.abs((await retentionOf('/default')) - 86_400_000)).toBeLessThan(5_000);
    expect(Math.abs((await retentionOf('/ttl')) - 90_000)).toBeLessThan(5_000);
  });

  it.each([
    ['/lease', 30_000],
    ['/long-lease', 600_000],
  ])('lockTtl: the claim of %s lasts %d ms', async (path, lockTtl) => {
    const key = newKey();
    gate.close();
    const running = app.post({ key, path });
    await gate.arrival();
    const { createdAt, lockExpiresAt } = await app.records.findOneByOrFail({ key });
    gate.open();

    expect(Math.abs(lockExpiresAt!.getTime() - createdAt.getTime() - lockTtl)).toBeLessThan(2_000);
    expect((await running).status).toBe(201);
  });

  it.each([
    ['/default', '1'],
    ['/patient', '7'],
  ])('retryAfter: a duplicate of %s is told to wait %s s', async (path, seconds) => {
    const key = newKey();
    gate.close();
    const running = app.post({ key, path });
    await gate.arrival();
    const duplicate = await app.post({ key, path });
    gate.open();
    await running;

    expectProblem(duplicate, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(duplicate.headers['retry-after']).toBe(seconds);
  });

  it("onAbandoned: 'fail', the default, never repeats an attempt that died, until its retention is over", async () => {
    const key = newKey();
    await app.post({ key, path: '/lease' });
    await abandon(key);
    const refused = [await app.post({ key, path: '/lease' }), await app.post({ key, path: '/lease' })];
    const other = await app.post({ key, path: '/lease', body: { amount: 200 } });

    refused.forEach((answer) => expectProblem(answer, 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN'));
    refused.forEach(({ headers }) => expect(headers).not.toHaveProperty('retry-after'));
    expectProblem(other, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await app.effects.count()).toBe(1);

    await app.dataSource.query(`UPDATE idempotency_records SET expires_at = now()`);
    const anew = await app.post({ key, path: '/lease' });
    expect(anew.status).toBe(201);
    expect(anew.json().attempt).toBe(1);
    expect(await app.effects.count()).toBe(2);
  });

  it("onAbandoned: 'retry' lets the next request repeat an attempt that died, and counts it", async () => {
    const key = newKey();
    const path = '/retried';
    const died = await app.post({ key, path });
    await abandon(key);
    const other = await app.post({ key, path, body: { amount: 200 } });
    const repeated = await app.post({ key, path });

    expect(died.json().attempt).toBe(1);
    expectProblem(other, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(repeated.status).toBe(201);
    expect(repeated.json().attempt).toBe(2);
    expectReplay(await app.post({ key, path }), repeated);
    expect(await app.effects.count()).toBe(2);
    expect(await app.records.find()).toMatchObject([{ key, attempt: 2 }]);
  });
});
