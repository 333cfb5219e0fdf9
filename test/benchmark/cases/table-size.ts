import { announce, measureRounds } from '../measure/rounds.js';
import type { Measurement } from '../measure/sample.js';
import { measureSlice, recordKeys, warmUp } from '../measure/slice.js';
import { usualSize } from '../options.js';
import type { AdapterName } from '../processes/server/settings.js';
import { type Contestant, startOn } from '../rig/contestant.js';
import { BenchmarkDatabase } from '../rig/database.js';
import type { Rig } from '../rig/rig.js';
import { provePages } from './index-pages.js';
import { multiplyRecords } from './records.js';

const SMALL = 10_000;
const LARGE = 5_000_000;

/** The difference is small, and so more rounds are needed to see it. */
const LEAST_ROUNDS = 10;

const ONE_KEY = { prefix: 'model', count: 1 };

/** S5: S1 with few and with many records. */
export async function measureTableSize(rig: Rig): Promise<Measurement[]> {
  const { options, postgres } = rig;
  const small = await BenchmarkDatabase.create(postgres, 'lease_10k');
  const large = await BenchmarkDatabase.create(postgres, 'lease_5m');
  const measurements: Measurement[] = [];
  for (const [index, adapter] of options.adapters.entries()) {
    const few = await startOn(rig, adapter, 'lease', small, 'lease-10k');
    const many = await startOn(rig, adapter, 'lease', large, 'lease-5m');
    if (index === 0) {
      console.log('S5: the large table is written');
      await fill(rig, many, LARGE);
    }
    measurements.push(...(await measure(rig, adapter, few, many)));
    if (index === 0) await provePages(rig, few, many);
    few.server.stop();
    many.server.stop();
  }
  await Promise.all([small.close(), large.close()]);
  return measurements;
}

async function measure(rig: Rig, adapter: AdapterName, few: Contestant, many: Contestant) {
  const setting = { case: 'S5', adapter, ...usualSize(rig.options) } as const;
  const rounds = Math.max(LEAST_ROUNDS, rig.options.rounds);
  const job = { ...setting, path: 'no-op' };
  announce(setting, [few, many], rounds);
  for (const contestant of [few, many]) await warmUp(rig, contestant, job);
  return measureRounds(setting, [few, many], rounds, async (contestant) => {
    // What a slice adds is nothing to the large one.
    if (contestant === few) await fill(rig, few, SMALL);
    return (await measureSlice(rig, contestant, job)).sample;
  });
}

async function fill(rig: Rig, contestant: Contestant, records: number): Promise<void> {
  await contestant.reset();
  await recordKeys(rig, contestant, { path: 'no-op', ...usualSize(rig.options), connections: 1 }, ONE_KEY);
  await multiplyRecords(contestant, Math.ceil(records * rig.options.scale));
}
