import { Idempotent } from '@exactly-once/nestjs';
import { idempotencyCases, moveRecordClock, readRecord } from '@exactly-once/nestjs/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { onEachAdapterInEachMode } from '../support/replay.js';

const notSent = () => Promise.reject(new Error('Not sent.'));

const BODIES = { same: { item: 'kibble' }, other: { item: 'bowl' } };

onEachAdapterInEachMode((adapter, mode) => {
  const failures = { left: 0 };

  @Controller()
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('protected')
    @Idempotent({ mode })
    place(@Body() { item }: { item: string }) {
      return this.save(item);
    }

    /** What a team has before it reads this. */
    @Post('unprotected')
    placeAgain(@Body() { item }: { item: string }) {
      return this.save(item);
    }

    private async save(item: string) {
      if (failures.left > 0) {
        failures.left -= 1;
        throw new Error('out of luck');
      }
      await sleep(20);
      return this.effects.save({ name: item });
    }
  }

  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [OrdersController] });
  });
  afterAll(() => app.close());

  const casesOf = (path: string) =>
    idempotencyCases({
      request: ({ key, body, signal }) =>
        fetch(app.url + path, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            ...(key !== undefined && { 'Idempotency-Key': key }),
          },
          body: JSON.stringify(BODIES[body]),
          ...(signal && { signal }),
        }),
      effectCount: () => app.effects.count(),
      endRetention: (key) => moveRecordClock(app.dataSource, key, '25h'),
      failOnce: () => {
        failures.left = 1;
      },
      afterFailure: mode === 'lease' ? 'replays' : 'executes',
    });

  describe('of an endpoint that is idempotent, each case passes', () => {
    for (const { name, run } of casesOf('/protected')) it(name, run);
  });

  describe('of an endpoint that is not, each case fails', () => {
    for (const { name, run } of casesOf('/unprotected')) {
      it(name, () => expect(run()).rejects.toThrow());
    }
  });

  it('there are seven; two of them need a hook', () => {
    const withoutHooks = idempotencyCases({ request: notSent, effectCount: () => 0 });

    expect(withoutHooks.map(({ name }) => name[0])).toEqual(['1', '2', '3', '4', '5']);
    expect(casesOf('/protected').map(({ name }) => name[0])).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  });

  it('a record can be read, and its clock moved', async () => {
    const key = newKey();
    await app.post({ key, path: '/protected', body: BODIES.same });
    const before = await readRecord(app.dataSource, key);
    await moveRecordClock(app.dataSource, key, '2h');
    const after = await readRecord(app.dataSource, key);

    expect(before).toMatchObject({ key, status: 201 });
    for (const time of ['createdAt', 'completedAt', 'expiresAt', 'purgeAt'] as const) {
      expect(before![time]!.getTime() - after![time]!.getTime()).toBe(7_200_000);
    }
    expect(await readRecord(app.dataSource, newKey())).toBeUndefined();
    await expect(moveRecordClock(app.dataSource, newKey(), 1)).rejects.toThrow(
      /There is no record of the key/,
    );
    await expect(moveRecordClock(app.dataSource, key, 'soon' as never)).rejects.toThrow(/not a duration/);
  });
});
