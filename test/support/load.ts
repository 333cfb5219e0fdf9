import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

export interface LoadOptions {
  url: string;
  connections: number;
  /** Each connection sends its next request when it has the answer to the one before. */
  requestsOfEach: number;
  /** A new one for each request otherwise. */
  key?: string;
}

const THREAD = fileURLToPath(new URL('load-thread.js', import.meta.url));

/** @returns the status of each answer */
export async function sendFromConnections(options: LoadOptions): Promise<number[]> {
  const thread = new Worker(THREAD, { workerData: options });
  const [statuses] = (await once(thread, 'message')) as [number[]];
  await once(thread, 'exit');
  return statuses;
}
