import assert from 'node:assert/strict';
import type { RecordedResponse, StoredResponse } from '../../engine/stored-response.js';
import type { ExistingRecord } from '../../store/claim.js';
import type { LeaseClaim, LeaseClaimResult } from '../../store/idempotency-store.interface.js';
import { winnersOf } from './world.js';

export function expectClaimed(result: LeaseClaimResult, attempt: number, steps: string | null = null): void {
  assert.deepEqual(result, { type: 'claimed', attempt, steps });
}

/** Who is refused is shown whose record it is. */
export function expectInFlight(result: LeaseClaimResult | undefined, holder: LeaseClaim): void {
  expectShown(result, 'in-flight', holder);
}

export function expectAbandoned(result: LeaseClaimResult | undefined, holder: LeaseClaim): void {
  expectShown(result, 'abandoned', holder);
}

export function expectCompleted(result: LeaseClaimResult | undefined, expected: RecordedResponse): void {
  assert.ok(
    result?.type === 'completed',
    `The record must be completed, and is ${result?.type ?? 'not there'}.`,
  );
  if (expected === 'unavailable' || result.response === 'unavailable') {
    assert.equal(result.response, expected);
    return;
  }
  assert.equal(result.response.status, expected.status);
  assert.deepEqual(plain(result.response.headers), plain(expected.headers));
  assert.ok(expected.body.equals(result.response.body), 'The body must be the same, byte for byte.');
}

export function expectOneWinner(
  results: LeaseClaimResult[],
  attempt: number,
  steps: string | null = null,
): void {
  const winners = winnersOf(results);
  assert.equal(winners.length, 1, 'number of callers that have claimed it');
  expectClaimed(winners[0]!, attempt, steps);
  const losers = results.filter((result) => result !== winners[0]);
  assert.ok(
    losers.every(({ type }) => type === 'in-flight'),
    'The others must be told that it is in flight.',
  );
}

/** Values alone: a test runner may give arrays that a store has read another prototype than those of the case. */
function plain(headers: StoredResponse['headers']): unknown {
  return JSON.parse(JSON.stringify(headers));
}

function expectShown(
  result: LeaseClaimResult | undefined,
  type: ExistingRecord['type'],
  { fingerprint }: LeaseClaim,
): void {
  assert.equal(result?.type, type, 'what the record looks like');
  const shown = result as ExistingRecord;
  assert.ok(shown.fingerprint?.equals(fingerprint), 'The fingerprint must be the one that was stored.');
}
