import type { IdempotencyMode } from '@exactly-once/nestjs';
import { describe, expect } from '@jest/globals';

import { onEachAdapter, type AdapterName } from './adapters.js';
import type { HttpResponse } from './http.js';

export const MODES = ['transaction', 'lease'] as const satisfies IdempotencyMode[];

/** Defines the same tests for each HTTP adapter in each mode. */
export function onEachAdapterInEachMode(define: (adapter: AdapterName, mode: IdempotencyMode) => void): void {
  onEachAdapter((adapter) => {
    describe.each(MODES)('in %s mode', (mode) => define(adapter, mode));
  });
}

/** Expects `second` to be `first` once more, byte by byte, and to say so. */
export function expectReplay(second: HttpResponse, first: HttpResponse): void {
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(second.status).toBe(first.status);
  expect(second.headers['content-type']).toBe(first.headers['content-type']);
  expect(second.body.equals(first.body)).toBe(true);
}

/** How a body is framed depends on when it is known; its bytes are compared. */
const FRAMING: ReadonlySet<string> = new Set(['date', 'connection', 'content-length', 'transfer-encoding']);

/** Expects the answer that a handler gives with the library to be the one that it gives without. */
export function expectSameAnswer(actual: HttpResponse, withoutLibrary: HttpResponse): void {
  expect(actual.status).toBe(withoutLibrary.status);
  expect(significantHeaders(actual)).toEqual(significantHeaders(withoutLibrary));
  expect(actual.body.equals(withoutLibrary.body)).toBe(true);
}

/** Headers in lower case, without those that frame the body or tell the time. */
export function significantHeaders({ headers }: HttpResponse): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMING.has(name)));
}
