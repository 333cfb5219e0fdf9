import { StartError } from './start-error.js';

/** What the environment says. Everything else in it is passed on to the app untouched. */
export interface Settings {
  /** A Postgres to use instead of the embedded one. */
  databaseUrl?: string;
  /** The port that has to be used. Without it, the first free one from 3000. `0` is any free one. */
  port?: number;
}

/** An empty variable counts as not set, as in `PORT= npm start`. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const { DATABASE_URL: databaseUrl, PORT: port, HTTP_ADAPTER: adapter } = env;
  if (adapter && !['express', 'fastify'].includes(adapter)) {
    throw new StartError(`HTTP_ADAPTER is '${adapter}'. It has to be 'express' or 'fastify'.`);
  }
  if (port && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536)) {
    throw new StartError(`PORT is '${port}'. It has to be a number from 0 to 65535.`);
  }
  if (databaseUrl && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new StartError('DATABASE_URL has to begin with postgres:// or postgresql://.');
  }
  return { ...(databaseUrl && { databaseUrl }), ...(port && { port: Number(port) }) };
}
