import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { RecordedResponse } from '../../engine/stored-response.js';
import { expectClaimed, expectCompleted } from './expectations.js';
import { abandon, another, ANSWER, type Cases, holdOf, LONG, SHORT, TIME_LIMIT } from './world.js';

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

/** What is recorded at the end of an attempt, and until when. */
export const OUTCOME_CASES: Cases = {
  'an outcome is recorded for its owner alone, and given to all who ask': async ({ store, claim }) => {
    const mine = claim();
    await store.claim(mine);
    assert.equal(await store.complete(holdOf(another(mine)), ANSWER, LONG), false, 'by another owner');
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG), true, 'by the owner');
    expectCompleted(await store.claim(another(mine)), ANSWER);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
  },

  'an outcome is final, and its owner may repeat what was not answered': async ({
    store,
    claim,
    passTime,
  }) => {
    const mine = claim({ lockTtl: SHORT });
    await store.claim(mine);
    await store.complete(holdOf(mine), ANSWER, LONG);
    const other = holdOf(another(mine));
    assert.equal(await store.complete(other, { ...ANSWER, status: 500 }, LONG), false);
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG), true, 'repeated by the owner');
    assert.equal(await store.release(holdOf(mine)), false);
    assert.equal(await store.renew(other, LONG), false);
    assert.equal(await store.renew(holdOf(mine), LONG), true, 'a renewal that comes late');
    assert.equal(await store.recordSteps(holdOf(mine), '{}'), false);
    expectCompleted(await store.claim(another(mine)), ANSWER);
    await passTime(2 * SHORT);
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG), true, 'when its lease is over');
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
  },

  'an owner that comes late may complete as long as nobody took its record over': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    await abandon(world, mine);
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG), true);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
  },

  'a record is released by its owner alone, and is free then': async ({ store, claim }) => {
    const mine = claim();
    await store.claim(mine);
    assert.equal(await store.release(holdOf(another(mine))), false);
    assert.equal(await store.release(holdOf(mine)), true);
    assert.equal(await store.release(holdOf(mine)), false, 'again');
    assert.equal(await store.find(mine.id, TIME_LIMIT), undefined);
    const next = another(mine, 'another body');
    expectClaimed(await store.claim(next), 1);
    assert.equal(await store.release(holdOf(mine)), false, 'when somebody else has it');
    assert.equal(await store.complete(holdOf(next), ANSWER, LONG), true);
  },

  'nothing can be done to a record that is not there': async ({ store, claim }) => {
    const hold = holdOf(claim());
    assert.equal(await store.complete(hold, ANSWER, LONG), false);
    assert.equal(await store.release(hold), false);
    assert.equal(await store.renew(hold, LONG), false);
    assert.equal(await store.recordSteps(hold, '{}'), false);
    assert.equal(await store.releaseAbandoned(hold.id, TIME_LIMIT), false);
    assert.equal(await store.find(hold.id, TIME_LIMIT), undefined);
    assert.equal(await store.inspect(hold.id, TIME_LIMIT), undefined);
  },

  'the retention of an outcome begins with it': async ({ store, claim, passTime }) => {
    const mine = claim({ ttl: SHORT });
    await store.claim(mine);
    await store.complete(holdOf(mine), ANSWER, LONG);
    await passTime(2 * SHORT);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
    expectCompleted(await store.claim(another(mine)), ANSWER);
  },

  'a record is free when its retention is over': async ({ store, claim, passTime }) => {
    const mine = claim();
    await store.claim(mine);
    await store.recordSteps(holdOf(mine), '{"charge":"ch_1"}');
    await store.complete(holdOf(mine), ANSWER, SHORT);
    await passTime(2 * SHORT);
    assert.equal(await store.find(mine.id, TIME_LIMIT), undefined);
    expectClaimed(await store.claim(another(mine, 'another body')), 1);
  },

  'a response is given back as it was recorded': async ({ store, claim }) => {
    const headers = { 'x-name': '"\'\\ü', 'x-empty': '', 'x-list': ['a', '', 'a'], 'x-one': ['b'] };
    const responses: RecordedResponse[] = [
      'unavailable',
      { status: 204, headers: {}, body: Buffer.alloc(0) },
      { status: 200, headers, body: EVERY_BYTE },
      { status: 500, headers: {}, body: Buffer.alloc(1024 * 1024, 'möö') },
      { status: 201, headers: {}, body: randomBytes(1024 * 1024) },
    ];
    for (const response of responses) {
      const mine = claim();
      await store.claim(mine);
      assert.equal(await store.complete(holdOf(mine), response, LONG), true);
      expectCompleted(await store.find(mine.id, TIME_LIMIT), response);
    }
  },
};
