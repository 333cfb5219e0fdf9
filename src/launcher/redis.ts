import { Redis } from 'ioredis';

import { StartError } from './start-error.js';

const TIME_LIMIT_MS = 5_000;

/**
 * The app would be started again and again before anything is said.
 *
 * @throws StartError when there is no Redis, or it does not let us in
 */
export async function probeRedis(url: string): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: TIME_LIMIT_MS,
    commandTimeout: TIME_LIMIT_MS,
  });
  // Of an attempt that fails, the client's promise says only that its connection is closed.
  let reason: Error | undefined;
  client.on('error', (error: Error) => (reason ??= error));
  try {
    await client.connect();
    await client.ping();
  } catch (cause) {
    const { message } = reason ?? (cause as Error);
    throw new StartError(`The Redis of REDIS_URL cannot be used: ${message}.`, { cause });
  } finally {
    client.disconnect();
  }
}
