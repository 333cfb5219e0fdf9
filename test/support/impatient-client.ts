import { expect } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { eventually } from './eventually.js';
import { newKey, type IdempotentApp } from './idempotent-app.js';

/** Milliseconds after which the client breaks its connection off. */
export const PATIENCE = 100;

/** What a handler needs more time for than its client has. */
export const slow = (): Promise<void> => sleep(3 * PATIENCE);

export interface Retried {
  path: string;
  status: number;
  isReplay: boolean;
  /** `code` of an answer that the library gave. */
  code?: string;
  text: string;
}

/** Sends a request to each path, gives up on it, and repeats it until it is not in flight any more. */
export function giveUpAndRetry(app: IdempotentApp, paths: string[]): Promise<Retried[]> {
  return Promise.all(
    paths.map(async (path) => {
      const key = newKey();
      await expect(app.post({ key, path, signal: AbortSignal.timeout(PATIENCE) })).rejects.toThrow();
      await slow();
      return eventually(async () => {
        const { status, headers, text } = await app.post({ key, path });
        expect(headers).not.toHaveProperty('retry-after');
        const isReplay = headers['idempotent-replayed'] === 'true';
        const code = /"code":"(\w+)"/.exec(text)?.[1];
        return { path, status, isReplay, ...(code !== undefined && { code }), text };
      });
    }),
  );
}
