import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Controller,
  InternalServerErrorException,
  Post,
  Res,
  UnprocessableEntityException,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { IsNull, Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { giveUp, giveUpAndRetry, PATIENCE, slow } from '../support/impatient-client.js';
import { openTransactions } from '../support/open-transactions.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

class SlowGuard implements CanActivate {
  async canActivate() {
    await slow();
    return true;
  }
}

async function* slowLines() {
  yield 'one ';
  await slow();
  yield 'two';
}

onEachAdapterInEachMode((adapter, mode) => {
  let failures = 0;

  @Controller()
  class ImpatientController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('handler')
    @Idempotent({ mode })
    async handler() {
      await slow();
      await this.effects.save({ name: '/handler' });
      return 'one two';
    }

    @Post('guard')
    @UseGuards(SlowGuard)
    @Idempotent({ mode })
    async guard() {
      await this.effects.save({ name: '/guard' });
      return 'one two';
    }

    @Post('res')
    @Idempotent({ mode })
    async res(@Res() response: any) {
      await this.effects.save({ name: '/res' });
      await slow();
      response.send('one two');
    }

    @Post('late-res')
    @Idempotent({ mode })
    async lateRes(@Res() response: any) {
      await this.effects.save({ name: '/late-res' });
      setTimeout(() => response.send('one two'), 3 * PATIENCE);
    }

    /** Takes longer than a stream may stand still. */
    @Post('much-later-res')
    @Idempotent({ mode })
    muchLaterRes(@Res() response: any) {
      const work = async () => {
        await sleep(1_700);
        await this.effects.save({ name: '/much-later-res' });
        response.send('one two');
      };
      work().catch(() => undefined);
    }

    @Post('pipeline')
    @Idempotent({ mode })
    async pipeline(@Res() response: any) {
      await this.effects.save({ name: '/pipeline' });
      await pipeline(Readable.from(slowLines()), response.raw ?? response);
    }

    @Post('refusal')
    @Idempotent({ mode })
    async refusal() {
      await this.effects.save({ name: '/refusal' });
      await slow();
      throw new UnprocessableEntityException('sold out');
    }

    @Post('failure')
    @Idempotent({ mode })
    async failure() {
      await this.effects.save({ name: '/failure' });
      await slow();
      failures += 1;
      if (failures === 1) throw new InternalServerErrorException('out of luck');
      return 'one two';
    }

    @Post('never')
    @Idempotent({ mode, lockTtl: '1s', transactionTimeout: '2s' })
    async never(@Res() _response: any) {
      await this.effects.save({ name: '/never' });
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [ImpatientController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    failures = 0;
    await app.effects.clear();
    await app.records.clear();
  });

  const nothingIsOpen = () =>
    eventually(async () => {
      expect(await openTransactions(app.dataSource)).toBe(0);
      expect(await app.records.countBy({ completedAt: IsNull() })).toBe(0);
    });

  it('C4, C34: a client that leaves while a handler is at work gets its first result later', async () => {
    const paths = ['/handler', '/guard', '/res', '/late-res', '/much-later-res', '/pipeline'];
    const retried = await giveUpAndRetry(app, paths);
    await nothingIsOpen();

    expect(retried).toEqual(paths.map((path) => ({ path, status: 201, isReplay: true, text: 'one two' })));
    const effects = await app.effects.find();
    expect(effects.map(({ name }) => name).toSorted()).toEqual(paths.toSorted());
    expect(await app.records.countBy({ status: 201 })).toBe(paths.length);
  });

  it('C34: a refusal that nobody waited for is replayed', async () => {
    const [retry] = await giveUpAndRetry(app, ['/refusal']);
    await nothingIsOpen();

    // In a transaction the key is free between the rollback and the record of the refusal: a retry in between executes,
    // and is refused as well.
    const isReplay = mode === 'lease' ? true : expect.any(Boolean);
    expect(retry).toMatchObject({ status: 422, isReplay, text: expect.stringMatching('sold out') });
    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
  });

  it('C34: a failure that nobody waited for counts as any other failure', async () => {
    const [retry] = await giveUpAndRetry(app, ['/failure']);
    await nothingIsOpen();

    expect(retry).toMatchObject(
      mode === 'transaction' ? { status: 201, isReplay: false } : { status: 500, isReplay: true },
    );
    expect(await app.effects.count()).toBe(1);
  });

  it('C34: a handler that never answers does not keep its key for ever once its client has gone', async () => {
    const key = newKey();
    await giveUp(app, key, '/never');
    await nothingIsOpen();

    expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 1);
    if (mode === 'lease') {
      const retry = await app.post({ key, path: '/never' });
      expect(retry.json()).toMatchObject({ code: 'IDEMPOTENCY_RESPONSE_UNAVAILABLE' });
    }
  });
});
