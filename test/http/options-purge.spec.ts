import {
  Idempotent,
  IdempotencyService,
  IDEMPOTENCY_PURGE_INTERVAL,
  type IdempotencyModuleOptions,
} from '@exactly-once/nestjs';
import { afterEach, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

@Controller()
class OrdersController {
  constructor(private readonly idempotency: IdempotencyService) {}

  @Post()
  @Idempotent()
  create() {
    return 'created';
  }

  @Post('purge')
  async purge() {
    return { removed: await this.idempotency.purge() };
  }
}

/** Writes down how many rows each DELETE removes. */
const COUNT_BATCHES = `
  CREATE TABLE batches (id serial, size integer);
  CREATE FUNCTION count_batch() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO batches (size) SELECT count(*) FROM gone; RETURN NULL; END $$;
  CREATE TRIGGER count_batches AFTER DELETE ON idempotency_records
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_batch()`;

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  const start = async (purge: IdempotencyModuleOptions['purge'], withSchedule = false) => {
    app = await startIdempotentApp({
      adapter,
      controllers: [OrdersController],
      options: { purge },
      imports: withSchedule ? [ScheduleModule.forRoot()] : [],
    });
  };
  afterEach(() => app.close());

  const createExpired = async (count: number) => {
    await Promise.all(Array.from({ length: count }, () => app.post()));
    await app.dataSource.query(`UPDATE idempotency_records SET expires_at = now(), purge_at = now()`);
  };

  it.each([true, false])(
    'purge: expired records go once per interval, and others stay (with a ScheduleModule: %s)',
    async (withSchedule) => {
      await start({ interval: '200ms' }, withSchedule);
      await createExpired(3);
      const kept = await app.post();

      expect(kept.status).toBe(201);
      await eventually(async () => expect(await app.records.count()).toBe(1));
      await createExpired(0);
      await eventually(async () => expect(await app.records.count()).toBe(0));
    },
  );

  it('purge: false leaves expired records to those who call for it', async () => {
    await start(false, true);
    await createExpired(2);
    await sleep(500);

    expect(app.app.get(SchedulerRegistry).getIntervals()).toEqual([]);
    expect(await app.records.count()).toBe(2);
    expect((await app.post({ path: '/purge' })).json()).toEqual({ removed: 2 });
    expect(await app.records.count()).toBe(0);
  });

  it('purge: by default it is an interval that the application can see and stop', async () => {
    await start(undefined, true);

    expect(app.app.get(SchedulerRegistry).getIntervals()).toEqual([IDEMPOTENCY_PURGE_INTERVAL]);
  });

  it('purge: one DELETE removes at most batchSize rows', async () => {
    await start({ interval: '1h', batchSize: 4 });
    await app.dataSource.query(COUNT_BATCHES);
    await createExpired(10);

    expect((await app.post({ path: '/purge' })).json()).toEqual({ removed: 10 });
    const batches = await app.dataSource.query('SELECT size FROM batches ORDER BY id');
    expect(batches.map(({ size }: { size: number }) => size)).toEqual([4, 4, 2]);
  });
});
