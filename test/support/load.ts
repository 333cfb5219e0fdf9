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
  // At once: a thread that ends while this one is busy is heard of in the same moment as its message.
  const [[statuses]] = await Promise.all([once(thread, 'message'), once(thread, 'exit')]);
  return statuses as number[];
}
