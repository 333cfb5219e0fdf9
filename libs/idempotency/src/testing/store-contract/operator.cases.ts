import assert from 'node:assert/strict';
import type {
  IdempotencyStore,
  LeaseClaim,
  RecordInspection,
} from '../../store/idempotency-store.interface.js';
import { expectAbandoned, expectClaimed, expectCompleted, expectInFlight } from './expectations.js';
import { abandon, another, ANSWER, type Cases, holdOf, LONG, SHORT, STEPS, TIME_LIMIT } from './world.js';

/** Records that one `purge()` removes at most. */
const BATCH = 1_000;

/** What operators see and do, and what the background does for them. */
export const OPERATOR_CASES: Cases = {
  'operators see a record, and free it only when its attempt has died': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    const { id, scope, operation, key, owner } = mine;
    await store.claim(mine);
    await expectSeen(store, mine, { state: 'in-flight', scope, operation, key, owner, attempt: 1 });
    assert.equal(await store.releaseAbandoned(id, TIME_LIMIT), false, 'a live one');
    assert.equal(await store.release(holdOf(mine)), true);
    await abandon(world, mine);
    await expectSeen(store, mine, { state: 'abandoned', status: null, completedAt: null });
    assert.equal(await store.releaseAbandoned(id, TIME_LIMIT), true);
    expectClaimed(await store.claim(another(mine)), 1);
  },

  'operators see an outcome, and cannot free it': async ({ store, claim }) => {
    for (const response of [ANSWER, 'unavailable'] as const) {
      const mine = claim();
      const { owner } = mine;
      await store.claim(mine);
      await store.complete(holdOf(mine), response, LONG);
      const status = response === 'unavailable' ? null : response.status;
      await expectSeen(store, mine, { state: 'completed', status, owner });
      assert.ok((await store.inspect(mine.id, TIME_LIMIT))?.completedAt instanceof Date);
      assert.equal(await store.releaseAbandoned(mine.id, TIME_LIMIT), false);
      expectCompleted(await store.find(mine.id, TIME_LIMIT), response);
    }
  },

  'operators see a record that was released with steps, and may free it for any request': async (world) => {
    const { store, claim } = world;
    const mine = claim();
    await store.claim(mine);
    await store.recordSteps(holdOf(mine), STEPS);
    await store.release(holdOf(mine));
    await expectSeen(store, mine, { state: 'released', steps: STEPS });
    assert.equal(await store.releaseAbandoned(mine.id, TIME_LIMIT), true);
    expectClaimed(await store.claim(another(mine, 'another body')), 1);
  },

  'a purge, where there is one, removes what has expired and nothing else': async (world) => {
    const { store, claim, passTime } = world;
    if (!store.purge) {
      return;
    }
    const expired = claim({ ttl: SHORT, lockTtl: SHORT });
    const abandoned = claim({ lockTtl: SHORT });
    const released = claim({ lockTtl: SHORT });
    const completed = claim({ lockTtl: SHORT });
    const live = claim({ ttl: SHORT });
    for (const one of [expired, abandoned, released, completed, live]) await store.claim(one);
    await store.complete(holdOf(expired), ANSWER, SHORT);
    await store.recordSteps(holdOf(released), STEPS);
    await store.release(holdOf(released));
    await store.complete(holdOf(completed), ANSWER, LONG);
    await passTime(2 * SHORT);
    while ((await store.purge(BATCH, TIME_LIMIT)) >= BATCH);

    assert.equal(await store.inspect(expired.id, TIME_LIMIT), undefined, 'what has expired');
    expectInFlight(await store.find(live.id, TIME_LIMIT), live);
    expectAbandoned(await store.find(abandoned.id, TIME_LIMIT), abandoned);
    expectCompleted(await store.find(completed.id, TIME_LIMIT), ANSWER);
    expectClaimed(await store.claim(another(released)), 2, STEPS);
  },
};

async function expectSeen(
  store: IdempotencyStore,
  { id }: LeaseClaim,
  expected: Partial<RecordInspection>,
): Promise<void> {
  const seen = await store.inspect(id, TIME_LIMIT);
  assert.deepEqual({ ...seen }, { ...seen, ...expected });
}
