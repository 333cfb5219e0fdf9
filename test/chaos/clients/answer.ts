import type { HttpResponse } from '../../support/http.js';

/** What a client got for a request, with its bytes. */
export interface Answer {
  status: number;
  /** Of an answer that the library itself gives. */
  code: string | undefined;
  replayed: boolean;
  /** What must be the same in every answer to one key: status, type, location and body. */
  bytes: Buffer;
  body: Buffer;
  requestId: string;
}

/** Answers of the library after which a retry may get another one. */
const NOT_FINAL_CODES: ReadonlySet<string | undefined> = new Set([
  'IDEMPOTENCY_KEY_IN_USE',
  // Also as a 409: a late completion by the same owner is accepted and becomes the result.
  'IDEMPOTENCY_OUTCOME_UNKNOWN',
  'IDEMPOTENCY_NOT_COMMITTED',
  'IDEMPOTENCY_STORE_UNAVAILABLE',
  'IDEMPOTENCY_SHUTTING_DOWN',
]);

/** Answers about the caller or the moment rather than about the intent. */
const NOT_FINAL_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);

export function readAnswer({ status, headers, body }: HttpResponse): Answer {
  const type = headers['content-type'] ?? '';
  const head = `${status}\n${type}\n${headers.location ?? ''}\n\n`;
  return {
    status,
    code: type.startsWith('application/problem+json') ? codeOf(body) : undefined,
    replayed: headers['idempotent-replayed'] === 'true',
    bytes: Buffer.concat([Buffer.from(head), body]),
    body,
    requestId: String(headers['x-request-id'] ?? '-'),
  };
}

/** Whether every later answer to the same key must be this one. */
export function isFinal({ status, code, replayed }: Answer): boolean {
  if (NOT_FINAL_CODES.has(code)) return false;
  // What was recorded stays, whatever it is; an error that was not recorded may pass.
  return replayed || (status < 500 && !NOT_FINAL_STATUSES.has(status));
}

/** An attempt has died, and nobody knows what it did. */
export function isAbandoned({ status, code }: Answer): boolean {
  return status === 409 && code === 'IDEMPOTENCY_OUTCOME_UNKNOWN';
}

export function describeAnswer({ status, code, replayed, body, requestId }: Answer): string {
  const shown = code ?? body.toString('utf8').slice(0, 160);
  return `${status}${replayed ? ' replayed' : ''} ${shown} (request ${requestId})`;
}

function codeOf(body: Buffer): string {
  try {
    return String(JSON.parse(body.toString('utf8')).code);
  } catch {
    return 'unreadable problem details';
  }
}
