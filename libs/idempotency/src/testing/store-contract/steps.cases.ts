import assert from 'node:assert/strict';
import { expectAbandoned, expectClaimed, expectInFlight } from './expectations.js';
import { abandon, another, ANSWER, type Cases, holdOf, LONG, SHORT, STEPS, TIME_LIMIT } from './world.js';

/** What an attempt leaves behind for the next one. */
export const STEPS_CASES: Cases = {
  'steps go with the record to whoever takes it over': async ({ store, claim, passTime }) => {
    const mine = claim({ lockTtl: SHORT });
    await store.claim(mine);
    assert.equal(await store.recordSteps(holdOf(another(mine)), 'wrong'), false);
    assert.equal(await store.recordSteps(holdOf(mine), STEPS), true);
    await passTime(2 * SHORT);
    expectClaimed(await store.claim(another(mine)), 2, STEPS);
    await passTime(2 * SHORT);
    expectClaimed(await store.claim(another(mine)), 3, STEPS);
  },

  'steps may be recorded again, also when others have looked, and the last text counts': async (world) => {
    const { store, claim, passTime } = world;
    const mine = claim();
    await store.claim(mine);
    assert.equal(await store.recordSteps(holdOf(mine), STEPS), true);
    expectInFlight(await store.claim(another(mine)), mine);
    expectInFlight(await store.find(mine.id, TIME_LIMIT), mine);
    assert.equal(await store.recordSteps(holdOf(mine), STEPS), true);
    assert.equal((await store.inspect(mine.id, TIME_LIMIT))?.steps, STEPS);
    assert.equal(await store.recordSteps(holdOf(mine), '{"charge":"ch_1","mail":2}'), true);
    await store.renew(holdOf(mine), SHORT);
    await passTime(2 * SHORT);
    expectClaimed(await store.claim(another(mine)), 2, '{"charge":"ch_1","mail":2}');
  },

  'a text of steps that comes late, behind a longer one, changes nothing': async ({ store, claim }) => {
    const mine = claim();
    await store.claim(mine);
    const both = '{"charge":"ch_1","mail":2}';
    await store.recordSteps(holdOf(mine), both);
    assert.equal(await store.recordSteps(holdOf(mine), STEPS), false);
    assert.equal((await store.inspect(mine.id, TIME_LIMIT))?.steps, both);
  },

  'an owner that comes late may record steps as long as nobody took its record over': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    await abandon(world, mine);
    assert.equal(await store.recordSteps(holdOf(mine), STEPS), true);
    expectClaimed(await store.claim(another(mine)), 2, STEPS);
  },

  'a record that is released with steps keeps them for the same request': async ({ store, claim }) => {
    const mine = claim();
    await store.claim(mine);
    await store.recordSteps(holdOf(mine), STEPS);
    assert.equal(await store.release(holdOf(mine)), true);
    assert.equal(await store.renew(holdOf(mine), LONG), false, 'a renewal that comes late');
    assert.equal(await store.complete(holdOf(mine), ANSWER, LONG), false, 'an outcome that comes late');
    assert.equal(await store.recordSteps(holdOf(mine), '{}'), false, 'steps that come late');
    expectAbandoned(await store.claim(another(mine, 'another body')), mine);
    const next = { ...another(mine), takeOverAbandoned: false };
    expectClaimed(await store.claim(next), 2, STEPS);
    assert.equal(await store.release(holdOf(mine)), false, 'a release that comes again');
    expectInFlight(await store.claim(another(mine)), next);
  },

  'steps outlive each attempt that is released after them': async ({ store, claim }) => {
    const mine = claim({ takeOverAbandoned: false });
    await store.claim(mine);
    await store.recordSteps(holdOf(mine), STEPS);
    assert.equal(await store.release(holdOf(mine)), true);
    const second = another(mine);
    expectClaimed(await store.claim(second), 2, STEPS);
    assert.equal(await store.release(holdOf(second)), true, 'without steps of its own');
    const third = another(mine);
    expectClaimed(await store.claim(third), 3, STEPS);
    assert.equal(await store.complete(holdOf(third), ANSWER, LONG), true);
  },

  'steps are given back as they were recorded, of any length and language': async ({ store, claim }) => {
    const long = JSON.stringify({ note: '"\\ \n ü € 🔑 '.repeat(7_000) });
    assert.ok(Buffer.byteLength(long) > 100_000);
    const mine = claim();
    await store.claim(mine);
    assert.equal(await store.recordSteps(holdOf(mine), long), true);
    assert.equal((await store.inspect(mine.id, TIME_LIMIT))?.steps, long);
    await store.release(holdOf(mine));
    expectClaimed(await store.claim(another(mine)), 2, long);
  },
};
