import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type RunResult, runChaos, type Surroundings } from './chaos-run.js';
import { Guard } from './guard.js';
import type { ChaosOptions } from './options.js';
import { DurablePostgres } from './postgres.js';
import { PROJECT } from './project.js';
import { ChaosRedis } from './redis.js';
import { describeFaults, describeRun, describeVerdict, describeViolations } from './report.js';
import { describeSchedule, drawSchedule } from './schedule.js';
import { buildIfStale } from './servers/build.js';
import { type ClockSkew, NO_SKEW, prepareSkew } from './servers/skew.js';

/** Where the servers' logs of a failing run are kept. */
const KEPT_LOGS = join(PROJECT, '.reports/chaos');

/**
 * Runs all modes and prints what has come of it. Whatever is started is ended, also when `interrupted` rejects.
 *
 * @returns whether nothing was violated
 */
export async function runAll(options: ChaosOptions, interrupted: Promise<never>): Promise<boolean> {
  await buildIfStale();
  const { skew, skewText } = await skewOf(options);
  const { seconds, servers, clients, seed, broken } = options;
  print(`seed ${seed}, ${servers} servers, ${clients} clients, ${seconds} s for each mode`);
  if (broken) print(`without its protection: ${broken}`);

  const folder = await mkdtemp(join(tmpdir(), 'exactly-once-chaos-'));
  const guard = new Guard(folder);
  const starting = startServers(options, guard, folder);
  try {
    const running = starting.then((started) => runModes({ options, ...started, guard, skew, folder }));
    const results = await Promise.race([running, interrupted]);
    print(...describeFaults(options, results, skewText), describeVerdict(results));
    if (results.every(({ violations }) => violations.length === 0)) return true;
    await keepLogs(folder);
    print(...describeViolations(results), `seed ${seed}; the servers' logs are in ${KEPT_LOGS}`);
    return false;
  } finally {
    // A Postgres that is just being started is not seen by the guard.
    await starting.then(({ postgres }) => postgres.restarted()).catch(() => undefined);
    await guard.end();
  }
}

async function startServers(
  { store, persistence }: ChaosOptions,
  guard: Guard,
  folder: string,
): Promise<Pick<Surroundings, 'postgres' | 'redis'>> {
  const redis = store === 'redis' ? await ChaosRedis.start(folder, guard, persistence) : undefined;
  return { postgres: await DurablePostgres.start(folder), redis };
}

async function runModes(surroundings: Surroundings): Promise<RunResult[]> {
  const { options, postgres, redis } = surroundings;
  if (redis) print(`the records are in ${redis.description}`);
  const results: RunResult[] = [];
  for (const mode of options.modes) {
    print(`${mode}: ${describeSchedule(drawSchedule(options, mode))}`);
    const result = await runChaos(mode, surroundings);
    print(...describeRun(result));
    results.push(result);
  }
  await Promise.all([postgres.stop(), redis?.stop()]);
  return results;
}

/** Without the library that is needed for it, the run goes on, and says so. */
async function skewOf({ faults, servers }: ChaosOptions): Promise<{ skew: ClockSkew; skewText: string }> {
  if (!faults.has('skew')) return { skew: NO_SKEW, skewText: '' };
  try {
    const skew = await prepareSkew();
    const offsets = Array.from({ length: servers }, (_, server) => skew.offset(server)).filter(Boolean);
    return { skew, skewText: `${offsets.length} of ${servers} servers (${offsets.join(', ')})` };
  } catch (error) {
    return { skew: NO_SKEW, skewText: `left out: ${(error as Error).message}` };
  }
}

async function keepLogs(folder: string): Promise<void> {
  await rm(KEPT_LOGS, { recursive: true, force: true });
  const names = await readdir(folder);
  for (const name of names.filter((file) => file.endsWith('.log'))) {
    await cp(join(folder, name), join(KEPT_LOGS, name));
  }
}

function print(...lines: string[]): void {
  for (const line of lines) console.log(line);
}
