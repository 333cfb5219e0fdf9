import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, InternalServerErrorException, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

function controllerFor(mode: IdempotencyMode, gate: Gate) {
  @Controller()
  @Idempotent({ mode, inFlight: { wait: '20s' } })
  class OrdersController {
    static failures = 0;

    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    async create() {
      await gate.pass();
      return this.effects.save({ name: 'order' });
    }

    @Post('impatient')
    @Idempotent({ inFlight: { wait: '500ms' }, retryAfter: '3s' })
    impatient() {
      return this.create();
    }

    @Post('failing')
    async failing() {
      await gate.pass();
      const effect = await this.effects.save({ name: 'order' });
      OrdersController.failures += 1;
      if (OrdersController.failures === 1) {
        throw new InternalServerErrorException('out of luck');
      }
      return effect;
    }

    @Post('quick')
    quick() {
      return this.effects.save({ name: 'quick' });
    }
  }
  return OrdersController;
}

onEachAdapterInEachMode((adapter, mode) => {
  const gate = new Gate();
  const controller = controllerFor(mode, gate);
  let app: IdempotentApp;

  beforeAll(async () => {
    // One connection for the transaction of the first request, and one for everybody else.
    const max = mode === 'transaction' ? 2 : 1;
    app = await startIdempotentApp({
      adapter,
      controllers: [controller],
      options: { storeTimeout: '4s', purge: false },
      dataSource: { extra: { max } },
    });
  });
  afterAll(() => app.close());
  afterEach(() => gate.open());
  beforeEach(async () => {
    await app.effects.clear();
  });

  it('B10: two duplicates wait for the first request, and both get its result', async () => {
    const key = newKey();
    gate.close();
    const running = app.post({ key });
    await gate.arrival();
    const duplicates = [app.post({ key }), app.post({ key })];
    const early = await Promise.race([...duplicates, sleep(400, 'still waiting')]);
    gate.open();
    const first = await running;

    expect(early).toBe('still waiting');
    expect(first.status).toBe(201);
    for (const duplicate of duplicates) {
      expectReplay(await duplicate, first);
    }
    expect(await app.effects.count()).toBe(1);
  });

  it('B10: when the time to wait is over, the answer is 409', async () => {
    const key = newKey();
    gate.close();
    const running = app.post({ key, path: '/impatient' });
    await gate.arrival();
    const duplicate = await app.post({ key, path: '/impatient' });
    gate.open();
    const first = await running;

    expectProblem(duplicate, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(duplicate.headers['retry-after']).toBe('3');
    expect(first.status).toBe(201);
    expectReplay(await app.post({ key, path: '/impatient' }), first);
    expect(await app.effects.count()).toBe(1);
  });

  it('B10: requests that wait hold no database connection, so that another key can be executed', async () => {
    const key = newKey();
    gate.close();
    const running = app.post({ key });
    await gate.arrival();
    const duplicates = [1, 2, 3, 4].map(() => app.post({ key }));
    const pool = (app.dataSource.driver as unknown as { master: Pool }).master;
    await sleep(300);
    await eventually(() => {
      const used = pool.totalCount - pool.idleCount;
      expect({ used, wanted: pool.waitingCount }).toEqual({
        used: mode === 'transaction' ? 1 : 0,
        wanted: 0,
      });
    }, 4_000);
    const others = [
      await app.post({ path: '/quick' }),
      await app.post({ path: '/quick' }),
      await app.post({ path: '/quick' }),
    ];
    gate.open();
    const first = await running;

    expect(others.map(({ status }) => status)).toEqual([201, 201, 201]);
    for (const duplicate of duplicates) {
      expectReplay(await duplicate, first);
    }
    expect(await app.effects.countBy({ name: 'order' })).toBe(1);
    expect(await app.effects.countBy({ name: 'quick' })).toBe(3);
  });

  it('B10, C18: a request with another body is not kept waiting', async () => {
    const key = newKey();
    gate.close();
    const running = app.post({ key });
    await gate.arrival();
    const other = await app.post({ key, body: { amount: 200 } });
    gate.open();

    expectProblem(other, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect((await running).status).toBe(201);
    expect(await app.effects.count()).toBe(1);
  });

  it('B10: when the first request ends in 500, those who wait get what a retry would get', async () => {
    const key = newKey();
    controller.failures = 0;
    gate.close();
    const running = app.post({ key, path: '/failing' });
    await gate.arrival();
    const duplicates = [app.post({ key, path: '/failing' }), app.post({ key, path: '/failing' })];
    await sleep(200);
    gate.open();
    const first = await running;
    const answers = await Promise.all(duplicates);

    expect(first.status).toBe(500);
    expect(await app.effects.count()).toBe(1);
    if (mode === 'lease') {
      answers.forEach((answer) => expectReplay(answer, first));
      return;
    }
    const [executed, replayed] = answers[0]!.headers['idempotent-replayed'] ? answers.toReversed() : answers;
    expect(executed!.status).toBe(201);
    expectReplay(replayed!, executed!);
  });
});
