import { createHash, randomUUID } from 'node:crypto';
import { recordId } from '../../engine/record-id.js';
import type { StoredResponse } from '../../engine/stored-response.js';
import type {
  IdempotencyStore,
  LeaseClaim,
  LeaseClaimResult,
  LeaseHold,
} from '../../store/idempotency-store.interface.js';

/** What each case works with. */
export interface World {
  readonly store: IdempotencyStore;
  /** A claim of a record that no other case has. */
  readonly claim: typeof newClaim;
  /** Lets so many milliseconds of the store's clock pass. */
  readonly passTime: (milliseconds: number) => Promise<unknown>;
  /** How many race in a case about races. */
  readonly callers: number;
  /** Breaks the connection after the next operation was carried out. */
  readonly loseNextAnswer: (() => unknown) | undefined;
}

/** By the sentence that they check. */
export type Cases = Readonly<Record<string, (world: World) => Promise<void>>>;

/** Milliseconds: of a lease or a retention that ends in a case, and of those that must not, however slow the store is. */
export const SHORT = 300;
export const LONG = 60_000;

/** Milliseconds that one operation may take. */
export const TIME_LIMIT = 10_000;

export const ANSWER: StoredResponse = {
  status: 201,
  headers: { 'content-type': 'application/json', link: ['<a>', '<b>'] },
  body: Buffer.from('{"id":1}'),
};

export const STEPS = '{"charge":"ch_1"}';

export function newClaim(given: Partial<LeaseClaim> = {}): LeaseClaim {
  const { scope = 'contract', operation = 'POST /contract', key = randomUUID() } = given;
  return {
    id: recordId({ scope, operation, key }),
    scope,
    operation,
    key,
    fingerprint: fingerprint('a body'),
    owner: randomUUID(),
    lockTtl: LONG,
    ttl: LONG,
    takeOverAbandoned: true,
    timeLimit: TIME_LIMIT,
    ...given,
  };
}

/** A claim of the same record by somebody else. */
export function another(claim: LeaseClaim, body = 'a body'): LeaseClaim {
  return { ...claim, owner: randomUUID(), fingerprint: fingerprint(body) };
}

export function holdOf({ id, owner, timeLimit }: LeaseClaim): LeaseHold {
  return { id, owner, timeLimit };
}

/** As many as there are callers claim the record at the same moment, each for itself. */
export function race({ store, callers }: World, claim: LeaseClaim): Promise<LeaseClaimResult[]> {
  return Promise.all(Array.from({ length: callers }, () => store.claim(another(claim))));
}

export function winnersOf(results: LeaseClaimResult[]): LeaseClaimResult[] {
  return results.filter(({ type }) => type === 'claimed');
}

/** Claims a record, and leaves it until its lease is over, as a process does that dies. */
export async function abandon({ store, passTime }: World, claim: LeaseClaim): Promise<LeaseClaimResult> {
  const result = await store.claim({ ...claim, lockTtl: SHORT });
  await passTime(2 * SHORT);
  return result;
}

function fingerprint(body: string): Buffer {
  return createHash('sha256').update(body).digest();
}
