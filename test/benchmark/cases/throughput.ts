import type { Job } from '../measure/job.js';
import { proveEffects, proveKeys } from '../measure/prove.js';
import { announce, measureRounds, type Setting } from '../measure/rounds.js';
import type { Measurement } from '../measure/sample.js';
import { measureSlice, recordKeys, warmUp } from '../measure/slice.js';
import type { BenchmarkOptions } from '../options.js';
import type { ThroughputCase } from '../plan/cases.js';
import type { AdapterName } from '../processes/server/settings.js';
import type { Contestant } from '../rig/contestant.js';
import type { Rig } from '../rig/rig.js';

const PATHS: Record<ThroughputCase, string> = { S1: 'no-op', S2: 'save', S3: 'no-op' };

/** As many as are asked for again in turn. */
const RECORDED = { prefix: 'recorded', count: 1_000 };

/** Each number of connections with the first size of bodies, and each other size with the first number. */
function sizesOf({ connections, bodyBytes }: BenchmarkOptions): Pick<Setting, 'connections' | 'bodyBytes'>[] {
  return [
    ...connections.map((number) => ({ connections: number, bodyBytes: bodyBytes[0]! })),
    ...bodyBytes.slice(1).map((bytes) => ({ connections: connections[0]!, bodyBytes: bytes })),
  ];
}

/** S1, S2 and S3: as many requests as the connections can make. */
export async function measureThroughput(
  rig: Rig,
  name: ThroughputCase,
  adapter: AdapterName,
  contestants: readonly Contestant[],
): Promise<Measurement[]> {
  const { rounds } = rig.options;
  const measurements: Measurement[] = [];
  for (const size of sizesOf(rig.options)) {
    const setting = { case: name, adapter, ...size } as const;
    announce(setting, contestants, rounds);
    for (const contestant of contestants) await prepare(rig, setting, contestant);
    const measure = (contestant: Contestant) =>
      name === 'S3' ? measureReplays(rig, setting, contestant) : measureNewKeys(rig, setting, contestant);
    measurements.push(...(await measureRounds(setting, contestants, rounds, measure)));
  }
  return measurements;
}

async function prepare(rig: Rig, setting: Setting & { case: ThroughputCase }, contestant: Contestant) {
  await contestant.reset();
  const job = jobOf(setting);
  if (job.recorded) await recordKeys(rig, contestant, { ...job, recorded: undefined }, job.recorded);
  await warmUp(rig, contestant, job);
}

async function measureNewKeys(rig: Rig, setting: Setting & { case: ThroughputCase }, contestant: Contestant) {
  await contestant.reset();
  const { sample, requests } = await measureSlice(rig, contestant, jobOf(setting));
  await proveKeys(rig.proofs, contestant, requests);
  await proveEffects(rig.proofs, contestant, setting.case === 'S2' ? requests : 0);
  return sample;
}

async function measureReplays(rig: Rig, setting: Setting & { case: ThroughputCase }, contestant: Contestant) {
  const { sample } = await measureSlice(rig, contestant, jobOf(setting));
  await proveKeys(rig.proofs, contestant, RECORDED.count);
  return sample;
}

function jobOf({ case: name, connections, bodyBytes }: Setting & { case: ThroughputCase }): Job {
  return { path: PATHS[name], connections, bodyBytes, recorded: name === 'S3' ? RECORDED : undefined };
}
