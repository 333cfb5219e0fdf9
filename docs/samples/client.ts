import { setTimeout as sleep } from 'node:timers/promises';

// #region post-once
/** @param key made once for what the user wants done, and kept until there is a result */
export async function postOnce(url: string, body: unknown, key: string): Promise<Response> {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const response = await post(url, body, key).catch(() => undefined);
    if (response && !(await comesLater(response))) {
      return response;
    }
    const seconds = Number(response?.headers.get('Retry-After') ?? 0);
    await sleep(Math.max(seconds * 1_000, 250 * 2 ** attempt));
  }
  throw new Error('There is no result yet. Send the same key again later.');
}

function post(url: string, body: unknown, key: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
}

/** 503, or still being executed: the same key gives the result later. */
async function comesLater(response: Response): Promise<boolean> {
  if (response.status !== 409) {
    return response.status === 503;
  }
  const problem = (await response.clone().json()) as { code?: string };
  return problem.code === 'IDEMPOTENCY_KEY_IN_USE';
}
// #endregion
