import { expect } from '@jest/globals';
import type { IncomingMessage, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { eventually } from './eventually.js';
import { newKey, type IdempotentApp } from './idempotent-app.js';

/** Milliseconds after which the client breaks its connection off, from the moment on when its request has arrived. */
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

/** Sends a request, and leaves while it is carried out. */
export async function giveUp(app: IdempotentApp, key: string, path: string): Promise<void> {
  const controller = new AbortController();
  const arrived = arrivalOf(app, key);
  const failed = expect(app.post({ key, path, signal: controller.signal })).rejects.toThrow();
  await arrived;
  await sleep(PATIENCE);
  controller.abort();
  await failed;
}

function arrivalOf({ app }: IdempotentApp, key: string): Promise<void> {
  const server: Server = app.getHttpServer();
  return new Promise((resolve) => {
    const hear = ({ headers }: IncomingMessage): void => {
      if (headers['idempotency-key'] === key) {
        server.off('request', hear);
        resolve();
      }
    };
    server.on('request', hear);
  });
}

/** Sends a request to each path, gives up on it, and repeats it until it is not in flight any more. */
export function giveUpAndRetry(app: IdempotentApp, paths: string[]): Promise<Retried[]> {
  return Promise.all(
    paths.map(async (path) => {
      const key = newKey();
      await giveUp(app, key, path);
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
