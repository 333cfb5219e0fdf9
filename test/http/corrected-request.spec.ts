import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Body,
  Controller,
  Injectable,
  ParseIntPipe,
  Post,
  Query,
  ValidationPipe,
  type PipeTransform,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsInt } from 'class-validator';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

class OrderDto {
  @IsInt()
  amount!: number;
}

/** Looks a thing up, and fails as a database or a service may. */
@Injectable()
class BrokenPipe implements PipeTransform {
  static isBroken = true;

  transform(value: unknown) {
    if (BrokenPipe.isBroken) throw new Error('the lookup failed');
    return value;
  }
}

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    @Idempotent({ mode })
    create(@Body(ValidationPipe) body: OrderDto) {
      return this.effects.save({ name: `amount ${body.amount}` });
    }

    @Post('parameter')
    @Idempotent({ mode })
    parameter(@Query('amount', ParseIntPipe) amount: number) {
      return this.effects.save({ name: `amount ${amount}` });
    }

    @Post('broken')
    @Idempotent({ mode })
    broken(@Body(BrokenPipe) body: { amount: number }) {
      return this.effects.save({ name: `amount ${body.amount}` });
    }
  }
  return OrdersController;
}

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    let app: IdempotentApp;

    beforeAll(async () => {
      app = await startIdempotentApp({ adapter, controllers: [controllerFor(mode)] });
    });
    afterAll(() => closeClean(app));
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    const names = async () => (await app.effects.find()).map(({ name }) => name);

    it('C23: a body that validation refuses is not recorded: corrected, under the same key, it is executed', async () => {
      const key = newKey();
      const refused = await app.post({ key, body: { amount: 'much' } });
      const left = await app.records.count();
      const corrected = await app.post({ key, body: { amount: 5 } });
      const replayed = await app.post({ key, body: { amount: 5 } });

      expect(refused.status).toBe(400);
      expect(refused.json()).toMatchObject({ message: ['amount must be an integer number'] });
      expect(left).toBe(0);
      expect(corrected.status).toBe(201);
      expect(corrected.headers).not.toHaveProperty('idempotent-replayed');
      expect(replayed.body.equals(corrected.body)).toBe(true);
      expect(replayed.headers['idempotent-replayed']).toBe('true');
      expect(await names()).toEqual(['amount 5']);
    });

    it('C23: the same for a parameter that a pipe refuses', async () => {
      const key = newKey();
      const refused = await app.post({ key, path: '/parameter?amount=much' });
      const corrected = await app.post({ key, path: '/parameter?amount=5' });

      expect(refused.status).toBe(400);
      expect(corrected.status).toBe(201);
      expect(await names()).toEqual(['amount 5']);
    });

    it('C23: a pipe that fails before the handler begins frees the key, whatever the mode', async () => {
      const key = newKey();
      BrokenPipe.isBroken = true;
      const failed = await app.post({ key, path: '/broken' });
      const left = await app.records.count();
      BrokenPipe.isBroken = false;
      const retried = await app.post({ key, path: '/broken' });

      expect(failed.status).toBe(500);
      expect(left).toBe(0);
      expect(retried.status).toBe(201);
      expect(await names()).toEqual(['amount 100']);
    });
  });
});
