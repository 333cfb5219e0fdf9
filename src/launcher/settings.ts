import { StartError } from './start-error.js';

/** What the environment says. Everything else in it is passed on to the app untouched. */
export interface Settings {
  /** A Postgres to use instead of the embedded one. */
  databaseUrl?: string;
  /** The Redis that the app is to keep its idempotency records in. */
  redisUrl?: string;
  /** The port that has to be used. Without it, the first free one from 3000. `0` is any free one. */
  port?: number;
}

/** An empty variable counts as not set, as in `PORT= npm start`. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const { DATABASE_URL: databaseUrl, PORT: port, HTTP_ADAPTER: adapter } = env;
  const { IDEMPOTENCY_STORE: store, REDIS_URL: redisUrl } = env;
  if (adapter && !['express', 'fastify'].includes(adapter)) {
    throw new StartError(`HTTP_ADAPTER is '${adapter}'. It has to be 'express' or 'fastify'.`);
  }
  if (port && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536)) {
    throw new StartError(`PORT is '${port}'. It has to be a number from 0 to 65535.`);
  }
  if (databaseUrl && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new StartError('DATABASE_URL has to begin with postgres:// or postgresql://.');
  }
  if (store && !['postgres', 'redis'].includes(store)) {
    throw new StartError(`IDEMPOTENCY_STORE is '${store}'. It has to be 'postgres' or 'redis'.`);
  }
  if (store === 'redis' && !/^rediss?:\/\/./.test(redisUrl ?? '')) {
    throw new StartError(
      "IDEMPOTENCY_STORE is 'redis', so REDIS_URL has to be set, and to begin with redis:// or rediss://.",
    );
  }
  return {
    ...(databaseUrl && { databaseUrl }),
    ...(store === 'redis' && { redisUrl }),
    ...(port && { port: Number(port) }),
  };
}
