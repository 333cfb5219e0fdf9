import { readFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

import { redisVersion } from '../../redis/redis-server.js';
import type { BenchmarkOptions } from '../options.js';
import { BENCHMARK, LIBRARIES, PROJECT } from '../project.js';
import { SETTINGS } from '../rig/postgres.js';
import type { Rig } from '../rig/rig.js';

const OF_THE_PROJECT = [
  '@nestjs/core',
  '@nestjs/platform-express',
  '@nestjs/platform-fastify',
  'typeorm',
  'pg',
  'ioredis',
];
const OF_THE_BENCHMARK = [
  '@node-idempotency/nestjs',
  '@node-idempotency/storage-adapter-redis',
  'redis',
  'undici',
];

/** Machine, versions and settings of a run, as lines of a list. */
export async function describeSurroundings({ options, postgres, redis }: Rig): Promise<string[]> {
  const [processor] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const durability = Object.entries(await postgres.durability()).map(([name, value]) => `${name}=${value}`);
  const settings = Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`);
  return [
    `- ${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${processor?.model ?? 'unknown processor'}, ${memory} GB of memory, ${type()} ${release()}`,
    `- Node ${process.version.slice(1)}, ${await versions()}`,
    `- Postgres ${await postgres.show('server_version')}: ${[...durability, ...settings].join(', ')}`,
    `- ${typeof redis === 'string' ? `no Redis: ${redis}` : `Redis ${redisVersion()} without persistence`}`,
    `- ${describeOptions(options)}`,
  ];
}

async function versions(): Promise<string> {
  const found = await Promise.all([
    ...LIBRARIES.map(versionIn),
    ...OF_THE_PROJECT.map((name) => versionIn(join(PROJECT, 'node_modules', name))),
    ...OF_THE_BENCHMARK.map((name) => versionIn(join(BENCHMARK, 'node_modules', name))),
  ]);
  return found.join(', ');
}

async function versionIn(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { name, version } = JSON.parse(text) as { name: string; version: string };
  return `${name} ${version}`;
}

function describeOptions({
  rounds,
  seconds,
  warmUpSeconds,
  poolSize,
  bodyBytes,
  scale,
}: BenchmarkOptions): string {
  return (
    `${rounds} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up; ${poolSize} database connections; ` +
    `bodies of ${bodyBytes.join(', ')} bytes${scale === 1 ? '' : `; S5 and S6 with ${scale} times as many records`}`
  );
}
