import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expectAbandoned, expectClaimed, expectCompleted, expectInFlight } from './expectations.js';
import { abandon, another, ANSWER, type Cases, holdOf, LONG, SHORT, TIME_LIMIT } from './world.js';

/** Who gets a record, and for how long. */
export const CLAIM_CASES: Cases = {
  'a free record is claimed once, and shown to others as in flight': async ({ store, claim }) => {
    const mine = claim();
    expectClaimed(await store.claim(mine), 1);
    expectInFlight(await store.claim(another(mine)), mine);
    expectInFlight(await store.find(mine.id, TIME_LIMIT), mine);
  },

  'a claim that is repeated by its owner is still claimed, also when others have looked': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    expectClaimed(await store.claim(mine), 1);
    expectClaimed(await store.claim(mine), 1);
    expectInFlight(await store.claim(another(mine)), mine);
    expectInFlight(await store.find(mine.id, TIME_LIMIT), mine);
    expectClaimed(await store.claim(mine), 1);
    expectInFlight(await store.claim(another(mine)), mine);
  },

  'a lease is prolonged by its owner alone': async ({ store, claim, passTime }) => {
    const mine = claim({ lockTtl: SHORT });
    await store.claim(mine);
    assert.equal(await store.renew(holdOf(another(mine)), LONG), false);
    assert.equal(await store.renew(holdOf(mine), LONG), true);
    await passTime(2 * SHORT);
    expectInFlight(await store.claim(another(mine)), mine);
  },

  'an abandoned record is taken over by the same request alone, and only if that is wanted': async (
    world,
  ) => {
    const { store, claim } = world;
    const mine = claim();
    await abandon(world, mine);
    expectAbandoned(await store.find(mine.id, TIME_LIMIT), mine);
    expectAbandoned(await store.claim({ ...another(mine), takeOverAbandoned: false }), mine);
    expectAbandoned(await store.claim(another(mine, 'another body')), mine);
    expectClaimed(await store.claim(another(mine)), 2);
  },

  'a lease that is prolonged lasts from then on, and ends': async ({ store, claim, passTime }) => {
    const mine = claim();
    await store.claim(mine);
    assert.equal(await store.renew(holdOf(mine), SHORT), true);
    await passTime(2 * SHORT);
    expectClaimed(await store.claim(another(mine)), 2);
  },

  'each take-over counts as an attempt': async (world) => {
    const mine = world.claim();
    for (const attempt of [1, 2, 3]) {
      expectClaimed(await abandon(world, another(mine)), attempt);
    }
    expectClaimed(await world.store.claim(another(mine)), 4);
    assert.equal((await world.store.inspect(mine.id, TIME_LIMIT))?.attempt, 4);
  },

  'whoever lost a record can write nothing to it, and gets it by no repetition': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    const next = another(mine);
    await abandon(world, mine);
    expectClaimed(await store.claim(next), 2);
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG), false);
    assert.equal(await store.renew(holdOf(mine), LONG), false);
    assert.equal(await store.recordSteps(holdOf(mine), '{"charge":1}'), false);
    assert.equal(await store.release(holdOf(mine)), false);
    expectInFlight(await store.claim(mine), next);
    expectInFlight(await store.claim(another(mine)), next);
    assert.equal(await store.complete(holdOf(next), { ...ANSWER, status: 202 }, LONG), true);
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG), false);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), { ...ANSWER, status: 202 });
  },

  'a live lease keeps its record beyond the retention': async ({ store, claim, passTime }) => {
    const mine = claim({ ttl: SHORT });
    await store.claim(mine);
    await passTime(2 * SHORT);
    expectInFlight(await store.claim(another(mine)), mine);
    assert.equal((await store.inspect(mine.id, TIME_LIMIT))?.state, 'in-flight');
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG), true);
    expectCompleted(await store.claim(another(mine)), ANSWER);
  },

  'a renewed lease keeps its record beyond the retention, and no longer than it lasts': async (world) => {
    const { store, claim, passTime } = world;
    const mine = claim({ ttl: SHORT });
    await store.claim(mine);
    assert.equal(await store.renew(holdOf(mine), LONG), true);
    await passTime(2 * SHORT);
    expectInFlight(await store.claim(another(mine)), mine);
    assert.equal(await store.renew(holdOf(mine), SHORT), true);
    await passTime(2 * SHORT);
    expectClaimed(await store.claim(another(mine, 'another body')), 1);
  },

  'a lease and a retention may have fractions of a millisecond': async ({ store, claim }) => {
    const mine = claim({ lockTtl: LONG + 0.1, ttl: LONG + 0.9 });
    expectClaimed(await store.claim(mine), 1);
    assert.equal(await store.renew(holdOf(mine), LONG + 0.5), true);
    expectInFlight(await store.claim(another(mine)), mine);
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG + 0.5), true);
    expectCompleted(await store.claim(another(mine)), ANSWER);
  },

  'a lease or a retention that is no number is refused, and nothing of it is written': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    await assert.rejects(async () => store.claim({ ...mine, lockTtl: NaN }));
    await assert.rejects(async () => store.claim({ ...mine, ttl: NaN }));
    assert.equal(await store.inspect(mine.id, TIME_LIMIT), undefined);
    await store.claim(mine);
    await assert.rejects(async () => store.renew(holdOf(mine), NaN));
    await assert.rejects(async () => store.complete(holdOf(mine), ANSWER, NaN));
    expectInFlight(await store.claim(another(mine)), mine);
  },

  'records are kept apart, however alike or long their keys': async ({ store, claim }) => {
    const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, code) => 32 + code));
    const long = printable.repeat(3).slice(0, 254);
    const keys = ['k', 'K', 'k ', printable, `${long}x`, `${long}y`, 'x'.repeat(255), "' OR 1=1 --", '\\x00'];
    const scope = randomUUID();
    const claims = keys.map((key) => claim({ key, scope }));
    for (const one of claims) expectClaimed(await store.claim(one), 1);
    for (const { id, key } of claims) assert.equal((await store.inspect(id, TIME_LIMIT))?.key, key);
    expectClaimed(await store.claim(claim({ key: 'k', scope: null, operation: scope })), 1);
    expectClaimed(await store.claim(claim({ key: 'k', scope: `${scope} ü 🔑` })), 1);
  },
};
