import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, HttpException, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { Gate } from '../support/gate.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

const DOCUMENTATION = 'https://docs.example.com/idempotency?page=1#keys';
const POINTER = `<${DOCUMENTATION}>; rel="describedby"`;

function controllerFor(mode: IdempotencyMode, gate: Gate) {
  @Controller()
  @Idempotent({ mode })
  class PaymentsController {
    static calls = 0;

    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    async pay(@Body() body: object) {
      const { id } = await this.effects.save({ name: 'payment' });
      await gate.pass();
      return { id, body };
    }

    @Post('declined')
    declined() {
      PaymentsController.calls += 1;
      throw new HttpException({ reason: 'no funds', attempt: PaymentsController.calls }, 402);
    }

    @Post('nobody')
    @Idempotent({ scope: () => undefined })
    nobody() {
      return 'unreachable';
    }
  }
  return PaymentsController;
}

onEachAdapterInEachMode((adapter, mode) => {
  const gate = new Gate();
  const controller = controllerFor(mode, gate);
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [controller],
      options: { documentationUrl: DOCUMENTATION },
    });
  });
  afterAll(() => app.close());
  afterEach(() => gate.open());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  it('B1: the value is a Structured Field String, whose parameters do not count and whose escapes are read', async () => {
    const first = await app.post({ key: '"8e03978e-40d5-43e8-bc93-6894a57f9324"' });
    const again = await app.post({ key: '"8e03978e-40d5-43e8-bc93-6894a57f9324";v=1;kind=retry' });
    const escaped = await app.post({ key: String.raw`"a \"b\" \\c"` });

    expect(first.status).toBe(201);
    expectReplay(again, first);
    expect(escaped.status).toBe(201);
    const keys = (await app.records.find()).map(({ key }) => key);
    expect(keys.toSorted()).toEqual(['8e03978e-40d5-43e8-bc93-6894a57f9324', String.raw`a "b" \c`]);
    expect(await app.effects.count()).toBe(2);
  });

  it('B2: without a key the answer is 400 and points to the documentation', async () => {
    const answer = await app.post({ key: null });

    expectProblem(answer, 400, 'IDEMPOTENCY_KEY_REQUIRED');
    expect(answer.headers.link).toBe(POINTER);
    expect(answer.json().detail).toMatch('Idempotency-Key');
    expect(await app.effects.count()).toBe(0);
  });

  it('B3: another payload under a used key is answered with 422 and points to the documentation', async () => {
    const key = newKey();
    await app.post({ key, body: { amount: 1 } });
    const other = await app.post({ key, body: { amount: 2 } });

    expectProblem(other, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(other.headers.link).toBe(POINTER);
    expect(await app.effects.count()).toBe(1);
  });

  it('B4: a retry while the first is in progress is answered with 409, a description and a time to wait', async () => {
    const key = newKey();
    gate.close();
    const first = app.post({ key });
    await gate.arrival();
    const retry = await app.post({ key });
    gate.open();

    expectProblem(retry, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(retry.json().detail).toMatch(/not finished.*retry with the same key/is);
    expect(retry.headers['retry-after']).toBe('1');
    expect((await first).status).toBe(201);
    expect(await app.effects.count()).toBe(1);
  });

  it('B5: a retry after completion gets the result of the first request, be it a success or an error', async () => {
    controller.calls = 0;
    const [paid, declined] = [newKey(), newKey()];
    const success = await app.post({ key: paid });
    const error = await app.post({ key: declined, path: '/declined' });

    expect(success.status).toBe(201);
    expect(error.status).toBe(402);
    expect(error.json()).toEqual({ reason: 'no funds', attempt: 1 });
    expectReplay(await app.post({ key: paid }), success);
    expectReplay(await app.post({ key: declined, path: '/declined' }), error);
    expect(controller.calls).toBe(1);
    expect(await app.effects.count()).toBe(1);
  });

  it('B9: every error of the library carries a link that describes it, and no other answer does', async () => {
    const key = newKey();
    const success = await app.post({ key });
    const declined = await app.post({ path: '/declined' });
    gate.close();
    const [busy, body] = [newKey(), { amount: 7 }];
    const running = app.post({ key: busy, body });
    await gate.arrival();
    const errors = [
      await app.post({ key: null }),
      await app.post({ key: '"' }),
      await app.post({ key, body: { amount: 2 } }),
      await app.post({ key: busy, body }),
      await app.post({ path: '/nobody' }),
    ];
    gate.open();

    expect(errors.map(({ status }) => status)).toEqual([400, 400, 422, 409, 500]);
    expect(errors.map(({ headers }) => headers.link)).toEqual(errors.map(() => POINTER));
    for (const answer of [success, declined, await running]) {
      expect(answer.headers).not.toHaveProperty('link');
    }
  });
});
