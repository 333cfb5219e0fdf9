import { statfs } from 'node:fs/promises';

import type { Measurement } from '../measure/sample.js';
import { type CaseName, THROUGHPUT_CASES } from '../plan/cases.js';
import type { AdapterName } from '../processes/server/settings.js';
import type { Rig } from '../rig/rig.js';
import { proveBare } from './bare-proof.js';
import { measureBursts } from './burst.js';
import { Fleet } from './fleet.js';
import { proveMemory } from './memory.js';
import { measurePurge } from './purge.js';
import { measureTableSize } from './table-size.js';
import { measureThroughput } from './throughput.js';

/** What the large tables of S5 and S6 need with their part of the write-ahead log. */
const NEEDED_BYTES = 12e9;

export interface Outcome {
  measurements: Measurement[];
  /** What was left out, and why. */
  skipped: string[];
}

/** All cases that are asked for. */
export async function measureAll(rig: Rig): Promise<Outcome> {
  const { cases, adapters, isMemory } = rig.options;
  const outcome: Outcome = { measurements: [], skipped: [] };
  if (isMemory) {
    for (const adapter of adapters) await proveMemory(rig, adapter);
    return outcome;
  }
  const ofVariants = cases.filter((name) => name !== 'S5' && name !== 'S6');
  for (const adapter of ofVariants.length > 0 ? adapters : []) {
    await measureVariants(rig, adapter, ofVariants, outcome);
  }
  const large = cases.filter((name) => name === 'S5' || name === 'S6');
  if (large.length > 0 && (await hasRoom(rig, large, outcome))) {
    if (large.includes('S5')) outcome.measurements.push(...(await measureTableSize(rig)));
    if (large.includes('S6')) outcome.measurements.push(...(await measurePurge(rig)));
  }
  return outcome;
}

async function measureVariants(
  rig: Rig,
  adapter: AdapterName,
  cases: readonly CaseName[],
  { measurements, skipped }: Outcome,
): Promise<void> {
  const fleet = await Fleet.start(rig, adapter, cases);
  skipped.push(...fleet.skipped);
  for (const name of THROUGHPUT_CASES.filter((one) => cases.includes(one))) {
    const contestants = fleet.of(name);
    const measured = await measureThroughput(rig, name, adapter, contestants);
    measurements.push(...measured);
    if (name === 'S1') await proveBare(rig, adapter, contestants, measured);
  }
  if (cases.includes('S4')) measurements.push(...(await measureBursts(rig, adapter, fleet.of('S4'))));
  await fleet.stop();
}

async function hasRoom(
  { folder, options }: Rig,
  cases: readonly CaseName[],
  { skipped }: Outcome,
): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  const needed = NEEDED_BYTES * Math.min(1, options.scale);
  if (bavail * bsize >= needed) return true;
  skipped.push(
    `${cases.join(' and ')}: ${gigabytes(bavail * bsize)} GB of disk are free at ${folder}, and ${gigabytes(needed)} GB are needed`,
  );
  return false;
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}
