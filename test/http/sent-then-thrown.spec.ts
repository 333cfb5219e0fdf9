import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, ConflictException, Controller, Post, Res } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  class SentController {
    static fails = true;
    static executions = 0;

    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    @Idempotent({ mode })
    async create(@Body() body: { error: 'final' | 'unknown'; pause: number }, @Res() response: any) {
      SentController.executions += 1;
      await this.effects.save({ name: 'effect' });
      response.status(201).header('X-Order', '7').send({ sent: SentController.executions });
      await sleep(body.pause);
      if (SentController.fails) {
        throw body.error === 'final' ? new ConflictException('sold out') : new Error('out of luck');
      }
    }
  }
  return SentController;
}

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    const controller = controllerFor(mode);
    let app: IdempotentApp;

    beforeAll(async () => {
      app = await startIdempotentApp({ adapter, controllers: [controller] });
    });
    afterAll(() => closeClean(app));
    beforeEach(async () => {
      await Promise.all([app.effects.clear(), app.records.clear()]);
      controller.fails = true;
      controller.executions = 0;
    });

    const CASES = [
      { error: 'unknown', pause: 0 },
      { error: 'unknown', pause: 100 },
      { error: 'final', pause: 0 },
      { error: 'final', pause: 100 },
    ];

    it.each(CASES)('a response that was sent before the handler threw: %j', async (body) => {
      const key = newKey();
      const first = await app.post({ key, body });
      const effects = await app.effects.count();
      controller.fails = false;
      const second = await app.post({ key, body });
      const third = await app.post({ key, body });

      if (mode === 'lease') {
        expect(first.status).toBe(201);
        expect(first.json()).toEqual({ sent: 1 });
        expect(effects).toBe(1);
        expect(second.body.equals(first.body)).toBe(true);
        expect(second.headers['x-order']).toBe('7');
        expect(second.headers['idempotent-replayed']).toBe('true');
        expect(controller.executions).toBe(1);
      } else {
        expect(first.status).toBe(body.error === 'final' ? 409 : 500);
        expect(first.json()).toMatchObject({ statusCode: first.status });
        expect(first.headers).not.toHaveProperty('x-order');
        expect(effects).toBe(0);
        expect(second.status).toBe(201);
        expect(third.body.equals(second.body)).toBe(true);
        expect(controller.executions).toBe(2);
      }
    });
  });
});
