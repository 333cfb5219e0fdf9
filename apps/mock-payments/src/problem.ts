/** Of the answers that do not depend on the table. RFC 9457. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code?: string;
}

export const KEY_REQUIRED: Problem = {
  type: 'urn:exactly-once:problem:key-required',
  title: 'An idempotency key is required',
  status: 400,
  detail:
    'This operation requires the header Idempotency-Key. Create one key per user intent, and send the same key with every ' +
    'retry of it.',
  code: 'IDEMPOTENCY_KEY_REQUIRED',
};

/** @param fault what is wrong with it, as a sentence */
export function keyInvalid(fault: string): Problem {
  return {
    type: 'urn:exactly-once:problem:key-invalid',
    title: 'The idempotency key is invalid',
    status: 400,
    detail: `${fault} A key is 1 to 255 characters, such as "8e03978e-40d5-43e8-bc93-6894a57f9324".`,
    code: 'IDEMPOTENCY_KEY_INVALID',
  };
}

export function notFound(request: string): Problem {
  return {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: `The mock has no answer for ${request}.`,
  };
}
