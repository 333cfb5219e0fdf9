import { expect } from '@jest/globals';

import type { HttpResponse } from './http.js';

/** Expects the library's own refusal, as problem details (RFC 9457). */
export function expectProblem(answer: HttpResponse, status: number, code: string): void {
  expect({ status: answer.status, body: answer.text }).toMatchObject({ status });
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  const body = answer.json();
  expect(body).toMatchObject({ status, code });
  expect(URL.canParse(body.type)).toBe(true);
  expect(body.title).toMatch(/\w/);
  expect(body.detail).toMatch(/\w.*\.$/s);
}
