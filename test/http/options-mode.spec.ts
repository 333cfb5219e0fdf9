import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterEach, expect, it } from '@jest/globals';
import { Controller, InternalServerErrorException, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

@Controller()
class FailingController {
  constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

  private async fail(): Promise<never> {
    await this.effects.save({ name: 'effect' });
    throw new InternalServerErrorException('out of luck');
  }

  @Post('default')
  @Idempotent()
  byDefault() {
    return this.fail();
  }

  @Post('transaction')
  @Idempotent({ mode: 'transaction' })
  inTransaction() {
    return this.fail();
  }

  @Post('lease')
  @Idempotent({ mode: 'lease' })
  inLease() {
    return this.fail();
  }
}

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  afterEach(() => app.close());

  it.each<[IdempotencyMode | undefined, string, IdempotencyMode]>([
    [undefined, '/default', 'transaction'],
    [undefined, '/lease', 'lease'],
    ['lease', '/default', 'lease'],
    ['lease', '/transaction', 'transaction'],
  ])('mode: with %s for all, a failing handler of %s behaves as in %s mode', async (mode, path, expected) => {
    app = await startIdempotentApp({ adapter, controllers: [FailingController], options: { mode } });
    const key = newKey();
    const first = await app.post({ key, path });
    const second = await app.post({ key, path });

    // Rolled back and executed again in the one, kept and replayed in the other.
    const isKept = expected === 'lease';
    expect([first.status, second.status]).toEqual([500, 500]);
    expect(second.headers['idempotent-replayed']).toBe(isKept ? 'true' : undefined);
    expect(await app.effects.count()).toBe(isKept ? 1 : 0);
    expect(await app.records.count()).toBe(isKept ? 1 : 0);
  });
});
