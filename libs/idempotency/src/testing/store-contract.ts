import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordId } from '../engine/record-id.js';
import type { RecordedResponse, StoredResponse } from '../engine/stored-response.js';
import type {
  LeaseClaim,
  LeaseClaimResult,
  LeaseHold,
  IdempotencyStore,
} from '../store/idempotency-store.interface.js';

/** @publicApi */
export interface StoreContractOptions {
  /**
   * Lets so many milliseconds of the store's clock pass.
   *
   * @default waits for them: a few seconds for all cases
   */
  passTime?: (milliseconds: number) => Promise<unknown>;
  /**
   * Callers that race in each case about races.
   *
   * @default 16
   */
  callers?: number;
}

/** @publicApi */
export interface StoreContractCase {
  readonly name: string;
  /** @throws AssertionError */
  readonly run: () => Promise<void>;
}

/** Milliseconds: of a lease, around its end, of the retention, and for one operation. */
const LOCK_TTL = 500;
const MARGIN = 200;
const TTL = 2_000;
const TIME_LIMIT = 10_000;

const ANSWER: StoredResponse = {
  status: 201,
  headers: { 'content-type': 'application/json', link: ['<a>', '<b>'] },
  body: Buffer.from('{"id":1}'),
};

/** An answer of its own for each key. */
function answerOf(key: string): StoredResponse {
  return { ...ANSWER, body: Buffer.from(key) };
}

type Case = (world: World) => Promise<void>;

const CASES: Record<string, Case> = {
  'a free record is claimed once, and shown to others as in flight': async ({ store, claim }) => {
    const mine = claim();
    expectClaimed(await store.claim(mine), 1);
    const others = await store.claim(another(mine));
    assert.equal(others.type, 'in-flight');
    assert.deepEqual('fingerprint' in others && others.fingerprint, mine.fingerprint);
  },

  'a claim that is repeated by its owner is still claimed': async ({ store, claim }) => {
    const mine = claim();
    expectClaimed(await store.claim(mine), 1);
    expectClaimed(await store.claim(mine), 1);
  },

  'an outcome is recorded for its owner alone, and given to all who ask': async ({ store, claim }) => {
    const mine = claim();
    await store.claim(mine);
    assert.equal(await store.complete(holdOf(another(mine)), ANSWER, TTL), false, 'by another owner');
    assert.equal(await store.complete(holdOf(mine), ANSWER, TTL), true, 'by the owner');
    expectCompleted(await store.claim(another(mine)), ANSWER);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
  },

  'an outcome is final, and its owner may repeat what was not answered': async ({ store, claim }) => {
    const mine = claim();
    await store.claim(mine);
    await store.complete(holdOf(mine), ANSWER, TTL);
    const other = holdOf(another(mine));
    assert.equal(await store.complete(other, { ...ANSWER, status: 500 }, TTL), false);
    assert.equal(await store.complete(holdOf(mine), ANSWER, TTL), true, 'repeated by the owner');
    assert.equal(await store.release(holdOf(mine)), false);
    assert.equal(await store.renew(other, LOCK_TTL), false);
    assert.equal(await store.renew(holdOf(mine), LOCK_TTL), true, 'a renewal that comes late');
    assert.equal(await store.recordSteps(holdOf(mine), '{}'), false);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
  },

  'a record is released by its owner alone, and is free then': async ({ store, claim }) => {
    const mine = claim();
    await store.claim(mine);
    assert.equal(await store.release(holdOf(another(mine))), false);
    assert.equal(await store.release(holdOf(mine)), true);
    assert.equal(await store.release(holdOf(mine)), false, 'again');
    assert.equal(await store.find(mine.id, TIME_LIMIT), undefined);
    expectClaimed(await store.claim(another(mine, 'another body')), 1);
  },

  'nothing can be done to a record that is not there': async ({ store, claim }) => {
    const hold = holdOf(claim());
    assert.equal(await store.complete(hold, ANSWER, TTL), false);
    assert.equal(await store.release(hold), false);
    assert.equal(await store.renew(hold, LOCK_TTL), false);
    assert.equal(await store.recordSteps(hold, '{}'), false);
    assert.equal(await store.releaseAbandoned(hold.id, TIME_LIMIT), false);
    assert.equal(await store.find(hold.id, TIME_LIMIT), undefined);
    assert.equal(await store.inspect(hold.id, TIME_LIMIT), undefined);
  },

  'a lease is prolonged by its owner alone': async ({ store, claim, passTime }) => {
    const mine = claim();
    await store.claim(mine);
    await passTime(LOCK_TTL - MARGIN);
    assert.equal(await store.renew(holdOf(another(mine)), LOCK_TTL), false);
    assert.equal(await store.renew(holdOf(mine), LOCK_TTL), true);
    await passTime(LOCK_TTL - MARGIN);
    assert.equal((await store.claim(another(mine))).type, 'in-flight');
  },

  'an owner that comes late may complete as long as nobody took its record over': async (world) => {
    const { store, claim, passTime } = world;
    const mine = claim();
    await store.claim(mine);
    await passTime(LOCK_TTL + MARGIN);
    assert.equal(await store.complete(holdOf(mine), ANSWER, TTL), true);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
  },

  'an abandoned record is taken over by the same request alone, and only if that is wanted': async (
    world,
  ) => {
    const { store, claim, passTime } = world;
    const mine = claim();
    await store.claim(mine);
    await passTime(LOCK_TTL + MARGIN);
    assert.equal((await store.claim({ ...another(mine), takeOverAbandoned: false })).type, 'abandoned');
    assert.equal((await store.claim(another(mine, 'another body'))).type, 'abandoned');
    expectClaimed(await store.claim(another(mine)), 2);
  },

  'whoever lost a record can write nothing to it': async ({ store, claim, passTime }) => {
    const mine = claim();
    const next = another(mine);
    await store.claim(mine);
    await passTime(LOCK_TTL + MARGIN);
    expectClaimed(await store.claim(next), 2);
    assert.equal(await store.complete(holdOf(mine), ANSWER, TTL), false);
    assert.equal(await store.renew(holdOf(mine), LOCK_TTL), false);
    assert.equal(await store.recordSteps(holdOf(mine), '{"charge":1}'), false);
    assert.equal(await store.release(holdOf(mine)), false);
    assert.equal((await store.claim(another(mine))).type, 'in-flight');
    assert.equal(await store.complete(holdOf(next), ANSWER, TTL), true);
  },

  'a record is free when its retention is over': async ({ store, claim, passTime }) => {
    const mine = claim();
    await store.claim(mine);
    await store.recordSteps(holdOf(mine), '{"charge":"ch_1"}');
    await store.complete(holdOf(mine), ANSWER, TTL);
    await passTime(TTL - MARGIN);
    expectCompleted(await store.find(mine.id, TIME_LIMIT), ANSWER);
    await passTime(2 * MARGIN);
    assert.equal(await store.find(mine.id, TIME_LIMIT), undefined);
    expectClaimed(await store.claim(another(mine, 'another body')), 1);
  },

  'steps go with the record to whoever takes it over': async ({ store, claim, passTime }) => {
    const mine = claim();
    await store.claim(mine);
    assert.equal(await store.recordSteps(holdOf(another(mine)), 'wrong'), false);
    assert.equal(await store.recordSteps(holdOf(mine), '{"charge":"ch_1"}'), true);
    await passTime(LOCK_TTL + MARGIN);
    expectClaimed(await store.claim(another(mine)), 2, '{"charge":"ch_1"}');
  },

  'a record that is released with steps keeps them for the same request': async ({ store, claim }) => {
    const mine = claim();
    await store.claim(mine);
    await store.recordSteps(holdOf(mine), '{"charge":"ch_1"}');
    assert.equal(await store.release(holdOf(mine)), true);
    assert.equal(await store.renew(holdOf(mine), LOCK_TTL), false, 'a renewal that comes late');
    assert.equal((await store.claim(another(mine, 'another body'))).type, 'abandoned');
    const next = { ...another(mine), takeOverAbandoned: false };
    expectClaimed(await store.claim(next), 2, '{"charge":"ch_1"}');
  },

  'operators see a record, and free it only when its attempt has died': async (world) => {
    const { store, claim, passTime } = world;
    const mine = claim();
    await store.claim(mine);
    const { id, scope, operation, key, owner } = mine;
    const seen = await store.inspect(id, TIME_LIMIT);
    assert.deepEqual(seen && [seen.state, seen.scope, seen.operation, seen.key, seen.owner, seen.attempt], [
      'in-flight',
      scope,
      operation,
      key,
      owner,
      1,
    ]);
    assert.equal(await store.releaseAbandoned(id, TIME_LIMIT), false, 'a live one');
    await passTime(LOCK_TTL + MARGIN);
    assert.equal((await store.inspect(id, TIME_LIMIT))?.state, 'abandoned');
    assert.equal(await store.releaseAbandoned(id, TIME_LIMIT), true);
    expectClaimed(await store.claim(another(mine)), 1);
  },

  'a response is given back as it was recorded': async ({ store, claim }) => {
    const responses: RecordedResponse[] = [
      'unavailable',
      { status: 204, headers: {}, body: Buffer.alloc(0) },
      {
        status: 200,
        headers: { 'x-name': '"\'\\ü' },
        body: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
      },
      { status: 500, headers: {}, body: Buffer.alloc(1024 * 1024, 'möö') },
    ];
    for (const response of responses) {
      const mine = claim();
      await store.claim(mine);
      assert.equal(await store.complete(holdOf(mine), response, TTL), true);
      expectCompleted(await store.find(mine.id, TIME_LIMIT), response);
    }
  },

  'keys are kept apart, however alike or long': async ({ store, claim }) => {
    const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, code) => 32 + code));
    const keys = ['k', 'K', 'k ', printable, `${'x'.repeat(254)}y`, 'x'.repeat(255), "' OR 1=1 --", '\\x00'];
    const scope = randomUUID();
    const claims = keys.map((key) => claim({ key, scope }));
    for (const one of claims) expectClaimed(await store.claim(one), 1);
    for (const { id, key } of claims) assert.equal((await store.inspect(id, TIME_LIMIT))?.key, key);
    expectClaimed(await store.claim(claim({ key: 'k', scope: null, operation: scope })), 1);
    expectClaimed(await store.claim(claim({ key: 'k', scope: `${scope} ü 🔑` })), 1);
  },

  'of callers that race for a free record one gets it': async ({ store, claim, callers }) => {
    const mine = claim();
    expectOneWinner(await race(store, callers, mine), 1);
  },

  'of callers that race for an abandoned record one gets it': async ({ store, claim, callers, passTime }) => {
    const mine = claim();
    await store.claim(mine);
    await passTime(LOCK_TTL + MARGIN);
    expectOneWinner(await race(store, callers, mine), 2);
    assert.equal(await store.complete(holdOf(mine), ANSWER, TTL), false, 'by the one who lost it');
  },

  'of callers that race for an expired record one gets it': async ({ store, claim, callers, passTime }) => {
    const mine = claim();
    await store.claim(mine);
    await store.complete(holdOf(mine), ANSWER, TTL);
    await passTime(TTL + MARGIN);
    expectOneWinner(await race(store, callers, mine), 1);
  },

  'a late completion and those who take over race, and one of them counts': async (world) => {
    const { store, claim, callers, passTime } = world;
    const mine = claim();
    await store.claim(mine);
    await passTime(LOCK_TTL + MARGIN);
    const [completed, results] = await Promise.all([
      store.complete(holdOf(mine), ANSWER, TTL),
      race(store, callers, mine),
    ]);
    assert.equal(results.filter(({ type }) => type === 'claimed').length, completed ? 0 : 1);
  },

  'many records are claimed and completed at the same moment, each for itself': async (world) => {
    const { store, claim, callers } = world;
    const claims = Array.from({ length: 4 * callers }, () => claim());
    await Promise.all(
      claims.map(async (one) => {
        expectClaimed(await store.claim(one), 1);
        assert.equal(await store.complete(holdOf(one), answerOf(one.key), TTL), true);
      }),
    );
    for (const { id, key } of claims) expectCompleted(await store.find(id, TIME_LIMIT), answerOf(key));
  },
};

/**
 * What a store of `lease` mode must do, as cases for any test runner. The cases have keys of their own, so they may share one
 * store.
 *
 * @param createStore called once for each case
 * @publicApi
 */
export function idempotencyStoreContract(
  createStore: () => IdempotencyStore | Promise<IdempotencyStore>,
  { passTime = sleep, callers = 16 }: StoreContractOptions = {},
): StoreContractCase[] {
  return Object.entries(CASES).map(([name, run]) => ({
    name,
    run: async () => run({ store: await createStore(), claim: newClaim, passTime, callers }),
  }));
}

interface World {
  readonly store: IdempotencyStore;
  /** A claim of a record that no other case has. */
  readonly claim: typeof newClaim;
  readonly passTime: (milliseconds: number) => Promise<unknown>;
  readonly callers: number;
}

function newClaim({
  scope = 'contract',
  operation = 'POST /contract',
  key = randomUUID(),
}: Partial<Pick<LeaseClaim, 'scope' | 'operation' | 'key'>> = {}): LeaseClaim {
  return {
    id: recordId({ scope, operation, key }),
    scope,
    operation,
    key,
    fingerprint: fingerprint('a body'),
    owner: randomUUID(),
    lockTtl: LOCK_TTL,
    ttl: TTL,
    takeOverAbandoned: true,
    timeLimit: TIME_LIMIT,
  };
}

/** A claim of the same record by somebody else. */
function another(claim: LeaseClaim, body = 'a body'): LeaseClaim {
  return { ...claim, owner: randomUUID(), fingerprint: fingerprint(body) };
}

function fingerprint(body: string): Buffer {
  return createHash('sha256').update(body).digest();
}

function holdOf({ id, owner, timeLimit }: LeaseClaim): LeaseHold {
  return { id, owner, timeLimit };
}

function race(store: IdempotencyStore, callers: number, claim: LeaseClaim): Promise<LeaseClaimResult[]> {
  return Promise.all(Array.from({ length: callers }, () => store.claim(another(claim))));
}

function expectClaimed(result: LeaseClaimResult, attempt: number, steps: string | null = null): void {
  assert.deepEqual(result, { type: 'claimed', attempt, steps });
}

function expectOneWinner(results: LeaseClaimResult[], attempt: number): void {
  const winners = results.filter(({ type }) => type === 'claimed');
  assert.equal(winners.length, 1, 'number of callers that have claimed it');
  expectClaimed(winners[0]!, attempt);
  const losers = results.filter(({ type }) => type !== 'claimed');
  assert.ok(
    losers.every(({ type }) => type === 'in-flight'),
    'The others must be told that it is in flight.',
  );
}

function expectCompleted(result: LeaseClaimResult | undefined, expected: RecordedResponse): void {
  assert.ok(
    result?.type === 'completed',
    `The record must be completed, and is ${result?.type ?? 'not there'}.`,
  );
  if (expected === 'unavailable' || result.response === 'unavailable') {
    assert.equal(result.response, expected);
    return;
  }
  assert.equal(result.response.status, expected.status);
  assert.deepEqual({ ...result.response.headers }, expected.headers);
  assert.ok(expected.body.equals(result.response.body), 'The body must be the same, byte for byte.');
}
