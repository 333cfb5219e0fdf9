import { IdempotencyRecordedFailureError } from '../errors/run.errors.js';
import type { AttemptOptions } from '../options/resolved-options.js';
import type { ClaimTarget } from '../store/claim.js';
import type { Attempt, EndedResponse } from './attempt.js';
import { errorStatus } from './error-status.js';
import type { IdempotencyEngine } from './idempotency-engine.js';
import type { IdempotentContext } from './idempotent-context.js';
import { asJson } from './json-result.js';
import type { StoredResponse } from './stored-response.js';

/** Work outside HTTP: its value, or the error that it ends in, is what a record holds. */
export type Work<T> = (context: IdempotentContext) => Promise<T> | T;

/**
 * Executes `work` once per key and gives its value to every later call.
 *
 * @throws what `work` throws, and later calls an IdempotencyRecordedFailureError where that was recorded; the
 * library's own errors for a key in use, reused, abandoned, and so on
 */
export async function runOnce<T>(
  engine: IdempotencyEngine,
  target: ClaimTarget,
  options: AttemptOptions,
  work: Work<T>,
): Promise<T> {
  const admission = await engine.admit(target, options);
  switch (admission.type) {
    case 'refuse':
      throw admission.error;
    case 'replay':
      return readResult(admission.response);
    case 'execute':
      return execute(admission.attempt, work, options.maxResponseBytes);
  }
}

async function execute<T>(attempt: Attempt, work: Work<T>, maxBytes: number): Promise<T> {
  const lost = new Promise<never>((_, reject) => {
    attempt.listen({ methodSettled: () => undefined, lost: reject });
  });
  return Promise.race([lost, executeAndSettle(attempt, work, maxBytes)]);
}

async function executeAndSettle<T>(attempt: Attempt, work: Work<T>, maxBytes: number): Promise<T> {
  const working = attempt.run(undefined, () =>
    attempt.execute(async () => asJson(await work(attempt.context))),
  );
  const ended = await Promise.resolve(working).then(
    (value) => ({ response: success(value), give: () => value }),
    (error: unknown) => ({ response: failure(error), give: () => rethrow(error) }),
  );
  const verdict = await attempt.settle(endedResponse(ended.response, maxBytes));
  switch (verdict.type) {
    case 'send':
      return ended.give();
    case 'replay':
      return readResult(verdict.response);
    case 'refuse':
      throw verdict.error;
  }
}

function endedResponse(response: StoredResponse, maxBytes: number): EndedResponse {
  const { status } = response;
  return response.body.byteLength > maxBytes
    ? { type: 'too-large', status, content: undefined }
    : { type: 'complete', status, content: response };
}

function rethrow(error: unknown): never {
  throw error;
}

function success(value: unknown): StoredResponse {
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(value) ?? '') };
}

function failure(error: unknown): StoredResponse {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  // Whatever status an error claims to have, it is no success.
  const status = Math.max(errorStatus(error), 400);
  return { status, headers: {}, body: Buffer.from(JSON.stringify({ name, message })) };
}

function readResult<T>({ status, body }: StoredResponse): T {
  const text = body.toString();
  const value: unknown = text === '' ? undefined : JSON.parse(text);
  if (status === 200) {
    return value as T;
  }
  const { name, message } = value as { name: string; message: string };
  throw new IdempotencyRecordedFailureError(status, name, message);
}
