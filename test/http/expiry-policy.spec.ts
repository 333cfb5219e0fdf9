import { Idempotent, type IdempotencyMode, type IdempotencyRecord } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

const HOUR = 3_600_000;

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    @Idempotent({ mode })
    create() {
      return this.effects.save({ name: 'order' });
    }

    @Post('brief')
    @Idempotent({ mode, ttl: '2h' })
    brief() {
      return this.effects.save({ name: 'brief' });
    }
  }
  return OrdersController;
}

function retentionOf({ completedAt, expiresAt }: IdempotencyRecord): number {
  return expiresAt.getTime() - completedAt!.getTime();
}

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [controllerFor(mode)],
      options: { documentationUrl: 'https://docs.example.com/idempotency' },
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  /** Lets the retention of a record end so many seconds from now. */
  const moveEndOfRetention = (key: string, seconds: number) =>
    app.dataSource.query(
      `UPDATE idempotency_records SET expires_at = now() + $2 * interval '1 second' WHERE key = $1`,
      [key, seconds],
    );

  it.each([
    ['/', 24 * HOUR],
    ['/brief', 2 * HOUR],
  ])('B6: the retention of a result of %s is the one that is defined', async (path, retention) => {
    const key = newKey();
    await app.post({ key, path });

    const record = await app.records.findOneByOrFail({ key });
    expect(Math.abs(retentionOf(record) - retention)).toBeLessThan(5_000);
    expect(Math.abs(record.completedAt!.getTime() - Date.now())).toBeLessThan(HOUR);
  });

  it('B6: a result is replayed up to the end of its retention, and the key is new after it', async () => {
    const key = newKey();
    const first = await app.post({ key });
    await moveEndOfRetention(key, 60);
    expectReplay(await app.post({ key }), first);

    await moveEndOfRetention(key, -1);
    const anew = await app.post({ key, body: { amount: 200 } });

    expect(anew.status).toBe(201);
    expect(anew.headers).not.toHaveProperty('idempotent-replayed');
    expect(anew.json().id).not.toBe(first.json().id);
    expect(await app.effects.count()).toBe(2);
    const record = await app.records.findOneByOrFail({ key });
    expect(Math.abs(retentionOf(record) - 24 * HOUR)).toBeLessThan(5_000);
    expectReplay(await app.post({ key, body: { amount: 200 } }), anew);
  });

  it('B6: the policy is published where the errors point to', async () => {
    const key = newKey();
    await app.post({ key });
    const reused = await app.post({ key, body: { amount: 200 } });

    expectProblem(reused, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(reused.headers.link).toBe('<https://docs.example.com/idempotency>; rel="describedby"');
  });
});
