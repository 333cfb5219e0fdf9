import { join } from 'node:path';

import { freePort } from '../../../src/embedded-postgres/index.js';
import type { Guard } from '../guard.js';
import type { Journal } from '../journal.js';
import { LOCK_TTL_MS } from '../schedule.js';
import { ServerProcess } from './server-process.js';
import type { ClockSkew } from './skew.js';

export interface FleetOptions {
  /** What the logs are named after. */
  name: string;
  servers: number;
  /** Where the data and the records are. */
  storeEnvironment: NodeJS.ProcessEnv;
  gatewayUrl: string;
  /** Connections of each server; undefined for the app's default. */
  poolSize: number | undefined;
  skew: ClockSkew;
  /** Flags of Node, by which a protection is taken out. */
  flags: string[];
  /** For the logs. */
  folder: string;
}

const ADAPTERS = ['express', 'fastify'];

/** Makes the servers, on alternating adapters; none of them is started yet. */
export async function createFleet(
  options: FleetOptions,
  guard: Guard,
  journal: Journal,
): Promise<ServerProcess[]> {
  const servers: ServerProcess[] = [];
  for (let index = 0; index < options.servers; index += 1) {
    const adapter = ADAPTERS[index % ADAPTERS.length]!;
    const offset = options.skew.offset(index);
    const server = {
      name: `server ${index + 1} (${adapter}${offset ? `, clock ${offset}` : ''})`,
      port: await freePort(),
      flags: options.flags,
      environment: { ...environmentOf(options, adapter), ...options.skew.environment(index) },
      logFile: join(options.folder, `${options.name}-server-${index + 1}.log`),
    };
    servers.push(new ServerProcess(server, guard, journal));
  }
  return servers;
}

/** The flags of Node with which the servers' requests share their statements, or do not: the sample app leaves it as it is. */
export function flagsOfBatching(batching: boolean): string[] {
  return batching ? [] : ['--import', new URL('without-batching.mjs', import.meta.url).href];
}

function environmentOf(options: FleetOptions, adapter: string): NodeJS.ProcessEnv {
  return {
    ...options.storeEnvironment,
    ...(options.poolSize !== undefined && { DB_POOL_SIZE: String(options.poolSize) }),
    GATEWAY_URL: options.gatewayUrl,
    HTTP_ADAPTER: adapter,
    LOCK_TTL: `${LOCK_TTL_MS}ms`,
    IDEMPOTENCY_TTL: '24h',
    // Often, so that it runs beside everything else.
    PURGE_INTERVAL: '1s',
    NO_COLOR: '1',
  };
}
