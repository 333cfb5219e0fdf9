import type { ServerAnswers } from '../processes/server/answers.js';
import {
  type AdapterName,
  SERVER_SETTINGS,
  type ServerSettings,
  type VariantName,
} from '../processes/server/settings.js';
import { PLAIN_SCRIPT, SERVER_SCRIPT } from '../project.js';
import { AskedProcess } from './asked-process.js';
import { BenchmarkDatabase } from './database.js';
import { RedisDatabase } from './redis.js';
import type { Rig } from './rig.js';

/** Where the library keeps its records. */
export const RECORDS = 'idempotency_records';

/** A Nest app without anything of the benchmark's, which the bare one must not be slower than. */
export const PLAIN = 'plain';

/** A server that is measured, and where what it writes can be counted. */
export interface Contestant {
  name: string;
  server: AskedProcess<ServerAnswers>;
  url: string;
  database?: BenchmarkDatabase;
  redis?: RedisDatabase;
  /** Keys that are recorded; undefined for one that records none. */
  countKeys?(): Promise<number>;
  /** Forgets all keys and effects. */
  reset(): Promise<void>;
}

/** A library that does not know an option refuses to start with it. */
export class MissingOptionError extends Error {
  override readonly name = 'MissingOptionError';
}

/** Starts the server of a variant, with a database of its own. @throws MissingOptionError */
export async function startVariant(
  rig: Rig,
  adapter: AdapterName,
  variant: VariantName,
): Promise<Contestant> {
  const database = await BenchmarkDatabase.create(rig.postgres, `${variant}_${adapter}`);
  return startOn(rig, adapter, variant, database);
}

/** @param name where it is not that of the variant */
export async function startOn(
  rig: Rig,
  adapter: AdapterName,
  variant: VariantName,
  database: BenchmarkDatabase,
  name: string = variant,
): Promise<Contestant> {
  const redis = RedisDatabase.of(variant, rig.redis);
  const { poolSize } = rig.options;
  const settings = { variant, adapter, databaseUrl: database.url, redisUrl: redis?.url, poolSize };
  const server = await start(rig, SERVER_SCRIPT, settings);
  const reset = async (): Promise<void> => {
    await database.truncate();
    await redis?.clear();
  };
  const counters: Partial<Record<VariantName, () => Promise<number>>> = {
    transaction: () => database.count(RECORDS),
    lease: () => database.count(RECORDS),
    'lease-unbatched': () => database.count(RECORDS),
    'lease-redis': () => redis!.count(),
    recipe: () => database.count('idempotency_keys'),
    'node-idempotency': () => redis!.count(),
  };
  const url = await server.ask('url');
  return { name, server, url, database, redis, countKeys: counters[variant], reset };
}

export async function startPlain(rig: Rig, adapter: AdapterName): Promise<Contestant> {
  const settings: ServerSettings = { variant: 'bare', adapter, databaseUrl: '', poolSize: 1 };
  const server = await start(rig, PLAIN_SCRIPT, settings);
  return { name: PLAIN, server, url: await server.ask('url'), reset: async () => undefined };
}

export async function stop({ server, database }: Contestant): Promise<void> {
  server.stop();
  await database?.close();
}

async function start(
  { guard }: Rig,
  script: string,
  settings: ServerSettings,
): Promise<AskedProcess<ServerAnswers>> {
  try {
    const environment = { [SERVER_SETTINGS]: JSON.stringify(settings) };
    return await AskedProcess.start<ServerAnswers>(script, environment, guard);
  } catch (error) {
    const option = /option `(\w+)` does not exist/.exec((error as Error).message)?.[1];
    throw option === undefined ? error : new MissingOptionError(`the library has no option \`${option}\``);
  }
}
