import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { blockRecordTable } from '../support/blocked-table.js';
import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { openTransactions } from '../support/open-transactions.js';
import { expectProblem } from '../support/problem.js';

const SERVER_TIMEOUT = 'SHOW idle_in_transaction_session_timeout';

function controllerFor(gate: Gate) {
  @Controller()
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('transaction')
    @Idempotent({ storeTimeout: '1s' })
    inTransaction() {
      return this.effects.save({ name: 'order' });
    }

    @Post('lease')
    @Idempotent({ storeTimeout: '1s', mode: 'lease' })
    inLease() {
      return this.effects.save({ name: 'order' });
    }

    @Post('slow')
    @Idempotent({ transactionTimeout: '1s', retryAfter: '4s' })
    async slow() {
      const effect = await this.effects.save({ name: 'order' });
      await gate.pass();
      return effect;
    }

    @Post('default')
    @Idempotent()
    serverTimeout() {
      return this.effects.query(SERVER_TIMEOUT);
    }

    @Post('long')
    @Idempotent({ transactionTimeout: '5m' })
    longServerTimeout() {
      return this.effects.query(SERVER_TIMEOUT);
    }
  }
  return OrdersController;
}

onEachAdapter((adapter) => {
  const gate = new Gate();
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter,
      controllers: [controllerFor(gate)],
      options: { purge: false },
    });
  });
  afterAll(() => app.close());
  afterEach(() => gate.open());
  beforeEach(async () => {
    await app.effects.clear();
    app.log.clear();
  });

  it.each(['/transaction', '/lease'])(
    'storeTimeout: a store that does not answer %s in that time gives 503, and a retry executes once',
    async (path) => {
      const key = newKey();
      const unblock = await blockRecordTable(app.database.url);
      const began = Date.now();
      const answer = await app.post({ key, path });
      const elapsed = Date.now() - began;
      await unblock();

      expectProblem(answer, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
      expect(answer.headers['retry-after']).toBe('1');
      // Less than the default of 5 s.
      expect(elapsed).toBeLessThan(4_500);
      expect(await app.effects.count()).toBe(0);
      const retry = await eventually(async () => {
        const again = await app.post({ key, path });
        expect(again.status).toBe(201);
        return again;
      });
      expect(await app.effects.find()).toMatchObject([{ id: retry.json().id }]);
    },
  );

  it('transactionTimeout: a transaction that is open for longer is rolled back, whatever its handler does', async () => {
    const key = newKey();
    gate.close();
    const answer = await app.post({ key, path: '/slow' });

    expectProblem(answer, 503, 'IDEMPOTENCY_NOT_COMMITTED');
    expect(answer.headers['retry-after']).toBe('4');
    expect(app.log.messages('error').join()).toMatch(/POST \/slow .*`transactionTimeout` \(1000 ms\)/);
    expect(await openTransactions(app.dataSource)).toBe(0);
    expect(await app.effects.count()).toBe(0);

    gate.open();
    expect((await app.post({ key, path: '/slow' })).status).toBe(201);
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.countBy({ key })).toBe(1);
  });

  it.each([
    ['/default', '1min'],
    ['/long', '5min'],
  ])('transactionTimeout: the server knows it too, for %s as %s', async (path, timeout) => {
    const answer = await app.post({ path });

    expect(answer.json()).toEqual([{ idle_in_transaction_session_timeout: timeout }]);
    expect(await app.dataSource.query(SERVER_TIMEOUT)).toEqual([
      { idle_in_transaction_session_timeout: '0' },
    ]);
  });
});
