import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { newKey } from '../support/idempotent-app.js';
import type { Deployment } from './deployment.js';
import type { WorkRequest } from './server-process.js';
import type { StalledAttempt } from './stalled-attempt.js';

/** Lets the handler in a new process stop its event loop, until the lease has lapsed and for longer. */
export async function blockDuring(
  path: WorkRequest['path'],
  deployment: Deployment,
): Promise<StalledAttempt> {
  const server = await deployment.start('the first');
  const key = newKey();
  const block = join(tmpdir(), `end-of-block-${key}`);
  const request: WorkRequest = { key, path, body: { hold: true, block } };
  const { answer } = await server.hold(request);
  server.letGo();
  await deployment.leaseHasLapsed(request);
  return {
    server,
    request,
    wake: async () => {
      await writeFile(block, '');
      const response = await answer;
      await rm(block);
      return response!;
    },
  };
}
