import assert from 'node:assert/strict';
import { expectClaimed, expectCompleted } from './expectations.js';
import {
  another,
  ANSWER,
  type Cases,
  holdOf,
  LONG,
  newClaim,
  STEPS,
  TIME_LIMIT,
  type World,
} from './world.js';

/** For a store whose connection can be broken between its write and the answer. */
export const CONNECTION_CASES: Cases = {
  "a claim whose answer is lost is its caller's when it asks again, and nobody else's": async (world) => {
    const mine = newClaim();
    await loseAnswer(world, () => world.store.claim(mine));
    assert.equal((await world.store.claim(another(mine))).type, 'in-flight');
    expectClaimed(await world.store.claim(mine), 1);
  },

  'an outcome whose answer is lost is recorded, and its owner is told so when it asks again': async (
    world,
  ) => {
    const { store } = world;
    const mine = newClaim();
    await store.claim(mine);
    await loseAnswer(world, () => store.complete(holdOf(mine), ANSWER, LONG));
    expectCompleted(await store.claim(another(mine)), ANSWER);
    assert.equal(await store.complete(holdOf(mine), { ...ANSWER, status: 500 }, LONG), true);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
  },

  'steps whose answer is lost are recorded, and may be recorded again': async (world) => {
    const { store } = world;
    const mine = newClaim();
    await store.claim(mine);
    await loseAnswer(world, () => store.recordSteps(holdOf(mine), STEPS));
    assert.equal((await store.inspect(mine.id, TIME_LIMIT))?.steps, STEPS);
    assert.equal(await store.recordSteps(holdOf(mine), STEPS), true);
  },

  'a renewal whose answer is lost is made again': async (world) => {
    const { store } = world;
    const mine = newClaim();
    await store.claim(mine);
    await loseAnswer(world, () => store.renew(holdOf(mine), LONG));
    assert.equal(await store.renew(holdOf(mine), LONG), true);
  },

  'a release whose answer is lost frees the record for the next one, and not a second time': async (
    world,
  ) => {
    const { store } = world;
    const mine = newClaim();
    const next = another(mine);
    await store.claim(mine);
    await loseAnswer(world, () => store.release(holdOf(mine)));
    expectClaimed(await store.claim(next), 1);
    assert.equal(await store.release(holdOf(mine)), false);
    assert.equal(await store.complete(holdOf(next), ANSWER, LONG), true);
  },
};

/** Whether the store reports the loss, or has asked again by itself: the write has happened once. */
async function loseAnswer({ loseNextAnswer }: World, operate: () => Promise<unknown>): Promise<void> {
  await loseNextAnswer!();
  await operate().catch(() => undefined);
}
