import { randomUUID } from 'node:crypto';

import { send, type HttpRequest, type HttpResponse } from '../support/http.js';
import type { Checks } from './checks.js';

const TIMEOUT_MS = 30_000;

/** To the fresh app. */
export const ORDER = {
  path: '/orders',
  headers: { Authorization: 'Bearer token-of-alice' },
  body: { item: 'kibble' },
};

/** Sends the same request twice with one new key. */
export async function postTwice(url: string, request: HttpRequest): Promise<[HttpResponse, HttpResponse]> {
  const headers = { ...request.headers, 'Idempotency-Key': randomUUID() };
  const sendOnce = () => send(url, { ...request, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  return [await sendOnce(), await sendOnce()];
}

export function checkReplay(checks: Checks, [first, second]: [HttpResponse, HttpResponse]): void {
  checks.that('the first POST is answered with 201', first.status === 201, describe(first));
  checks.that('the first answer is not marked as replayed', !isReplayed(first));
  checks.that('the second POST is answered with 201', second.status === 201, describe(second));
  checks.that(
    'the second answer has the bytes of the first',
    second.body.equals(first.body),
    describe(second),
  );
  checks.that('the second answer has Idempotent-Replayed: true', isReplayed(second));
}

export function isReplayed({ headers }: HttpResponse): boolean {
  return headers['idempotent-replayed'] === 'true';
}

function describe({ status, text }: HttpResponse): string {
  return `${status} ${text}`;
}
