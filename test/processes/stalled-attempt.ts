import type { HttpResponse } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import type { Deployment } from './deployment.js';
import type { ServerProcess, WorkRequest } from './server-process.js';
import type { ServerSettings } from './settings.js';

/** An attempt whose process stands still in the middle of the handler, and knows nothing of it. */
export interface StalledAttempt {
  /** It is named 'the first'. */
  server: ServerProcess;
  request: WorkRequest;
  /** Lets process and handler go on. @returns what the client gets */
  wake(): Promise<HttpResponse>;
}

/** Several of them in one process. */
export interface StalledAttempts {
  server: ServerProcess;
  requests: WorkRequest[];
  wake(): Promise<HttpResponse[]>;
}

/** Stops a new process by a signal. */
export async function stallDuring(
  path: WorkRequest['path'],
  deployment: Deployment,
  options?: ServerSettings['options'],
): Promise<StalledAttempt> {
  const { server, requests, wake } = await stallAttempts(1, path, deployment, options);
  return { server, request: requests[0]!, wake: async () => (await wake())[0]! };
}

export async function stallAttempts(
  count: number,
  path: WorkRequest['path'],
  deployment: Deployment,
  options?: ServerSettings['options'],
): Promise<StalledAttempts> {
  const server = await deployment.start('the first', { options });
  const requests = Array.from({ length: count }, (): WorkRequest => {
    return { key: newKey(), path, body: { hold: true } };
  });
  const { answers } = await server.holdAll(requests);
  server.stall();
  return {
    server,
    requests,
    wake: () => {
      server.letGo();
      server.resume();
      return answers;
    },
  };
}
