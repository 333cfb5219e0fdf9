import { Idempotent, type IdempotencyMode, type IdempotencyOutcome } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  ConflictException,
  Controller,
  NotFoundException,
  Post,
  ServiceUnavailableException,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

function controllerFor(mode: IdempotencyMode, asked: IdempotencyOutcome[]) {
  const storeIf = (outcome: IdempotencyOutcome): boolean => {
    asked.push(outcome);
    return outcome.status === 404;
  };

  @Controller()
  @Idempotent({ mode })
  class OrdersController {
    static calls = 0;

    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    private async act(error?: Error) {
      OrdersController.calls += 1;
      const effect = await this.effects.save({ name: 'effect' });
      if (error) {
        throw error;
      }
      return effect;
    }

    @Post('success')
    @Idempotent({ storeIf })
    success() {
      return this.act();
    }

    @Post('missing')
    @Idempotent({ storeIf })
    missing() {
      return this.act(new NotFoundException('no such order'));
    }

    @Post('conflict')
    @Idempotent({ storeIf })
    conflict() {
      return this.act(new ConflictException('sold out'));
    }

    @Post('busy')
    @Idempotent({ storeIf })
    busy() {
      return this.act(new ServiceUnavailableException('later'));
    }

    @Post('default')
    byDefault() {
      return this.act(new ConflictException('sold out'));
    }

    @Post('throwing')
    @Idempotent({
      storeIf: () => {
        throw new Error('storeIf is broken');
      },
    })
    throwing() {
      return this.act(new ConflictException('sold out'));
    }
  }
  return OrdersController;
}

onEachAdapterInEachMode((adapter, mode) => {
  const asked: IdempotencyOutcome[] = [];
  const controller = controllerFor(mode, asked);
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [controller] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
    app.log.clear();
    asked.splice(0);
    controller.calls = 0;
  });

  const twice = async (path: string) => {
    const key = newKey();
    return [await app.post({ key, path }), await app.post({ key, path })] as const;
  };

  it('storeIf: true stores a final error, and it is told status, error and mode', async () => {
    const [first, second] = await twice('/missing');

    expect(first.status).toBe(404);
    expectReplay(second, first);
    expect(asked).toEqual([{ status: 404, error: expect.any(NotFoundException), mode }]);
    expect(controller.calls).toBe(1);
    expect(await app.effects.count()).toBe(mode === 'lease' ? 1 : 0);
  });

  it('storeIf: false releases the key of an error that would be stored, so that a retry executes', async () => {
    const [first, second] = await twice('/conflict');

    expect([first.status, second.status]).toEqual([409, 409]);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(asked.map(({ status }) => status)).toEqual([409, 409]);
    expect(controller.calls).toBe(2);
    expect(await app.records.count()).toBe(0);
    expect(await app.effects.count()).toBe(mode === 'lease' ? 2 : 0);
  });

  it('storeIf: without it, such an error is stored', async () => {
    const [first, second] = await twice('/default');

    expect(first.status).toBe(409);
    expectReplay(second, first);
    expect(controller.calls).toBe(1);
  });

  it('storeIf: it is asked of a success in lease mode, and not in transaction mode', async () => {
    const [first, second] = await twice('/success');

    expect([first.status, second.status]).toEqual([201, 201]);
    if (mode === 'transaction') {
      expectReplay(second, first);
      expect(asked).toEqual([]);
      expect(await app.effects.count()).toBe(1);
    } else {
      expect(second.headers).not.toHaveProperty('idempotent-replayed');
      expect(asked.map(({ status, error }) => [status, error])).toEqual([
        [201, undefined],
        [201, undefined],
      ]);
      expect(await app.effects.count()).toBe(2);
    }
  });

  it('storeIf: it is not asked of what transaction mode releases anyway', async () => {
    const [first, second] = await twice('/busy');

    expect([first.status, second.status]).toEqual([503, 503]);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(asked.map(({ status }) => status)).toEqual(mode === 'lease' ? [503, 503] : []);
    expect(controller.calls).toBe(2);
  });

  it('storeIf: when it throws, the outcome is stored and the log says so', async () => {
    const [first, second] = await twice('/throwing');

    expect(first.status).toBe(409);
    expect(first.text).toMatch('sold out');
    expectReplay(second, first);
    expect(controller.calls).toBe(1);
    expect(JSON.stringify(app.log.lines)).toMatch(/`storeIf` threw.*storeIf is broken/);
  });
});
