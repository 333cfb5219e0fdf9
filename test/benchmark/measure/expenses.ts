import { cpuTime } from '../processes/cpu-time.js';
import type { Usage } from '../processes/server/answers.js';
import type { Contestant } from '../rig/contestant.js';
import type { Updates } from '../rig/database.js';
import type { Rig } from '../rig/rig.js';
import { type PostgresCounters, readPostgresCounters } from './postgres-counters.js';
import { familyTime, machineTime } from './processor-time.js';
import type { Sample } from './sample.js';

interface ProcessorTimes {
  machine: { busy: number; all: number } | undefined;
  postgres: number | undefined;
  redis: number | undefined;
  /** Of everything that the benchmark has started, apart from the server. */
  others: number;
}

interface DatabaseCounters extends PostgresCounters {
  updates: Updates;
  /** Connections that have reported for this, with a statement and a commit each. */
  reports: number;
}

interface Reading {
  usage: Usage;
  times: ProcessorTimes;
  database: DatabaseCounters | undefined;
}

/** What a slice of requests has cost, and how many of them were executed. */
export interface Costs {
  metrics: Sample;
  executions: number;
}

/** What is used between two moments. */
export class Expenses {
  private constructor(
    private readonly rig: Rig,
    private readonly contestant: Contestant,
    private readonly before: Reading,
  ) {}

  static async begin(rig: Rig, contestant: Contestant): Promise<Expenses> {
    // What the reading itself costs comes before it.
    const database = await readDatabase(rig, contestant);
    const times = await readTimes(rig);
    const usage = await contestant.server.ask('usage');
    return new Expenses(rig, contestant, { usage, times, database });
  }

  async end(requests: number): Promise<Costs> {
    const usage = await this.contestant.server.ask('usage');
    const times = await readTimes(this.rig);
    const database = await readDatabase(this.rig, this.contestant);
    return {
      executions: usage.executions - this.before.usage.executions,
      metrics: {
        ...this.ofProcessors({ usage, times, database }, requests),
        ...(database && this.ofDatabase({ usage, times, database }, requests)),
      },
    };
  }

  private ofProcessors({ usage, times }: Reading, requests: number): Sample {
    const server = usage.cpu - this.before.usage.cpu;
    const before = this.before.times;
    if (!times.machine || !before.machine) return { serverCpu: server / requests };
    const usedBy = (who: 'postgres' | 'redis' | 'others') => (times[who] ?? 0) - (before[who] ?? 0);
    const busy = times.machine.busy - before.machine.busy;
    const foreign = busy - server - usedBy('postgres') - usedBy('redis') - usedBy('others');
    return {
      serverCpu: server / requests,
      postgresCpu: usedBy('postgres') / requests,
      ...(this.contestant.redis && { redisCpu: usedBy('redis') / requests }),
      // Time is counted in ticks, so that a small share may come out below nothing.
      foreign: Math.max(0, foreign / (times.machine.all - before.machine.all)),
    };
  }

  private ofDatabase({ usage, database }: Reading, requests: number): Sample {
    const before = this.before.database!;
    const after = database!;
    const each = (counter: keyof PostgresCounters): number => (after[counter] - before[counter]) / requests;
    const updates = after.updates.all - before.updates.all;
    const reports = after.reports / requests;
    return {
      statements: each('statements') - reports,
      roundTrips: (usage.roundTrips - this.before.usage.roundTrips) / requests,
      commits: each('commits') - reports,
      walSyncs: each('walSyncs'),
      walBytes: each('walBytes'),
      pages: each('pages'),
      ...(updates > 0 && { heapOnly: (after.updates.heapOnly - before.updates.heapOnly) / updates }),
    };
  }
}

async function readDatabase(
  { postgres, proofs }: Rig,
  { server, database, name }: Contestant,
): Promise<DatabaseCounters | undefined> {
  if (!database) return undefined;
  const { count, synchronousCommit } = await server.ask('reportStatistics');
  const areDurable = synchronousCommit.every((value) => value === 'on');
  proofs.that(
    'synchronous_commit is on in every session',
    areDurable,
    `${name}: ${synchronousCommit}`,
    count,
  );
  const updates = await database.updates();
  return { updates, reports: count + 1, ...(await readPostgresCounters(postgres.admin, database.name)) };
}

async function readTimes({ load, postgresPid, redis }: Rig): Promise<ProcessorTimes> {
  const [machine, postgres, ofRedis, ofLoad] = await Promise.all([
    machineTime(),
    familyTime(postgresPid),
    typeof redis === 'string' ? undefined : familyTime(redis.pid),
    load.ask('cpu'),
  ]);
  return { machine, postgres, redis: ofRedis, others: cpuTime() + ofLoad };
}
