import assert from 'node:assert/strict';
import type { StoredResponse } from '../../engine/stored-response.js';
import { expectClaimed, expectCompleted, expectOneWinner } from './expectations.js';
import {
  abandon,
  another,
  ANSWER,
  type Cases,
  holdOf,
  LONG,
  race,
  SHORT,
  STEPS,
  TIME_LIMIT,
  winnersOf,
} from './world.js';

/** What must hold however operations fall together. */
export const RACE_CASES: Cases = {
  'of callers that race for a free record one gets it': async (world) => {
    expectOneWinner(await race(world, world.claim()), 1);
  },

  'of callers that race for an abandoned record one gets it': async (world) => {
    const mine = world.claim();
    await abandon(world, mine);
    expectOneWinner(await race(world, mine), 2);
    assert.equal(await world.store.complete(holdOf(mine), ANSWER, LONG), false, 'by the one who lost it');
  },

  'of callers that race for a record that was released with steps one gets it, and them': async (world) => {
    const { store, claim } = world;
    const mine = claim({ takeOverAbandoned: false });
    await store.claim(mine);
    await store.recordSteps(holdOf(mine), STEPS);
    await store.release(holdOf(mine));
    expectOneWinner(await race(world, mine), 2, STEPS);
  },

  'of callers that race for an expired record one gets it': async (world) => {
    const { store, claim, passTime } = world;
    const mine = claim();
    await store.claim(mine);
    await store.complete(holdOf(mine), ANSWER, SHORT);
    await passTime(2 * SHORT);
    expectOneWinner(await race(world, mine), 1);
  },

  'a release and those who wait for it race, and one of them gets the record at most': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    await store.claim(mine);
    const [released, results] = await Promise.all([store.release(holdOf(mine)), race(world, mine)]);
    assert.equal(released, true);
    const winners = winnersOf(results);
    assert.ok(winners.length <= 1, 'number of callers that have claimed it');
    const next = await store.claim(another(mine));
    assert.equal(next.type, winners.length === 1 ? 'in-flight' : 'claimed');
  },

  'a late completion and those who take over race, and one of them counts': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    await abandon(world, mine);
    const [completed, results] = await Promise.all([
      store.complete(holdOf(mine), ANSWER, LONG),
      race(world, mine),
    ]);
    assert.equal(winnersOf(results).length, completed ? 0 : 1);
  },

  'a late renewal and those who take over race, and one of them counts': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    await abandon(world, mine);
    const [renewed, results] = await Promise.all([store.renew(holdOf(mine), LONG), race(world, mine)]);
    assert.equal(winnersOf(results).length, renewed ? 0 : 1);
  },

  'steps that are recorded late go to the one who takes over, or are refused': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    await abandon(world, mine);
    const [recorded, results] = await Promise.all([
      store.recordSteps(holdOf(mine), STEPS),
      race(world, mine),
    ]);
    expectOneWinner(results, 2, recorded ? STEPS : null);
  },

  'an operator who frees a record and those who take it over race, and one of these has it': async (
    world,
  ) => {
    const { store, claim } = world;
    const mine = claim();
    await abandon(world, mine);
    const [freed, results] = await Promise.all([
      store.releaseAbandoned(mine.id, TIME_LIMIT),
      race(world, mine),
    ]);
    expectOneWinner(results, freed ? 1 : 2);
    assert.equal((await store.claim(another(mine))).type, 'in-flight', 'what others are shown');
  },

  'an attempt renews while it records, and loses neither': async ({ store, claim, passTime }) => {
    const mine = claim({ lockTtl: SHORT });
    await store.claim(mine);
    const [renewed, recorded] = await Promise.all([
      store.renew(holdOf(mine), LONG),
      store.recordSteps(holdOf(mine), STEPS),
    ]);
    assert.deepEqual({ renewed, recorded }, { renewed: true, recorded: true });
    await passTime(2 * SHORT);
    const seen = await store.inspect(mine.id, TIME_LIMIT);
    assert.deepEqual({ state: seen?.state, steps: seen?.steps }, { state: 'in-flight', steps: STEPS });
  },

  'many records are claimed and completed at the same moment, each for itself': async (world) => {
    const { store, claim, callers } = world;
    const claims = Array.from({ length: 4 * callers }, () => claim());
    await Promise.all(
      claims.map(async (one) => {
        expectClaimed(await store.claim(one), 1);
        assert.equal(await store.complete(holdOf(one), answerOf(one.key), LONG), true);
      }),
    );
    for (const { id, key } of claims) expectCompleted(await store.find(id, TIME_LIMIT), answerOf(key));
  },
};

/** An answer of its own for each key. */
function answerOf(key: string): StoredResponse {
  return { ...ANSWER, body: Buffer.from(key) };
}
