import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, Post, Res } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

let measured: string[] = [];

/** As tracing and caching decorators are written: another method, with the metadata of the first. */
function Measured(): MethodDecorator {
  return (_target, methodName, descriptor: PropertyDescriptor) => {
    const original = descriptor.value;
    const replacement = async function (this: unknown, ...args: unknown[]) {
      try {
        return await original.apply(this, args);
      } finally {
        measured.push(String(methodName));
      }
    };
    for (const key of Reflect.getMetadataKeys(original)) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), replacement);
    }
    descriptor.value = replacement;
  };
}

onEachAdapterInEachMode((adapter, mode) => {
  @Controller()
  class MeasuredController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('above-value')
    @Measured()
    @Idempotent({ mode })
    async aboveValue(@Body('amount') amount: number) {
      const { id } = await this.effects.save({ name: 'value' });
      return { id, amount };
    }

    @Post('above-res')
    @Measured()
    @Idempotent({ mode })
    async aboveRes(@Res() response: any, @Body('amount') amount: number) {
      const { id } = await this.effects.save({ name: 'res' });
      response.send({ id, amount });
    }

    @Post('below-value')
    @Idempotent({ mode })
    @Measured()
    async belowValue(@Body('amount') amount: number) {
      const { id } = await this.effects.save({ name: 'value' });
      return { id, amount };
    }

    @Post('below-res')
    @Idempotent({ mode })
    @Measured()
    async belowRes(@Res() response: any, @Body('amount') amount: number) {
      const { id } = await this.effects.save({ name: 'res' });
      response.send({ id, amount });
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [MeasuredController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    measured = [];
    await app.effects.clear();
  });

  it.each(['/above-value', '/above-res', '/below-value', '/below-res'])(
    'C4: a method that another decorator has replaced, metadata kept, is replayed (%s)',
    async (path) => {
      const key = newKey();
      const first = await app.post({ key, path });
      const second = await app.post({ key, path, signal: AbortSignal.timeout(5_000) });

      expect(first.json()).toEqual({ id: expect.any(Number), amount: 100 });
      expectReplay(second, first);
      expect(measured).toHaveLength(1);
      expect(await app.effects.count()).toBe(1);
    },
  );
});
