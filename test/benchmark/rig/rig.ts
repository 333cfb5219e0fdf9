import { chmod, mkdtemp, statfs } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Guard } from '../../chaos/guard.js';
import { NOT_PERSISTENT, RedisServer, redisVersion } from '../../redis/redis-server.js';
import type { BenchmarkOptions } from '../options.js';
import type { LoadAnswers } from '../processes/load/answers.js';
import { LOAD_SCRIPT } from '../project.js';
import { Proofs } from '../proofs.js';
import { AskedProcess } from './asked-process.js';
import { BenchmarkPostgres } from './postgres.js';

/** File systems that live in memory, in which nothing is durable. */
const IN_MEMORY = [0x01021994, 0x858458f6];

/** What all cases share. */
export interface Rig {
  options: BenchmarkOptions;
  proofs: Proofs;
  guard: Guard;
  /** With the data of Postgres. */
  folder: string;
  postgres: BenchmarkPostgres;
  postgresPid: number;
  /** Or why there is none. */
  redis: RedisServer | string;
  load: AskedProcess<LoadAnswers>;
}

/** A new folder on a disk. */
export async function makeFolder(): Promise<string> {
  // Unlike /tmp it is never in memory.
  const folder = await mkdtemp(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'exactly-once-bench-'));
  await chmod(folder, 0o755);
  return folder;
}

/** @param guard ends what was started, whatever happens */
export async function openRig(options: BenchmarkOptions, folder: string, guard: Guard): Promise<Rig> {
  const proofs = new Proofs();
  const { type } = await statfs(folder);
  proofs.that('the data is on a disk', !IN_MEMORY.includes(type), folder);
  const postgres = await BenchmarkPostgres.start(folder);
  for (const [setting, value] of Object.entries(await postgres.durability())) {
    proofs.that(`${setting} of the server is on`, value === 'on', value);
  }
  const [postgresPid, redis, load] = await Promise.all([
    postgres.pid(),
    startRedis(folder, guard),
    AskedProcess.start<LoadAnswers>(LOAD_SCRIPT, {}, guard),
  ]);
  return { options, proofs, guard, folder, postgres, postgresPid, redis, load };
}

/** It keeps nothing on disk. */
async function startRedis(folder: string, guard: Guard): Promise<RedisServer | string> {
  if (redisVersion() === undefined) return 'there is no redis-server on this machine';
  return RedisServer.start({ flags: NOT_PERSISTENT, folder, watch: (child) => guard.watch(child) });
}
