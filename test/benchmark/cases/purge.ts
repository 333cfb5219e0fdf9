import { announce, measureRounds } from '../measure/rounds.js';
import type { Measurement, Sample } from '../measure/sample.js';
import { measureSlice, recordKeys, warmUp } from '../measure/slice.js';
import { usualSize } from '../options.js';
import type { AdapterName } from '../processes/server/settings.js';
import { type Contestant, startOn } from '../rig/contestant.js';
import { BenchmarkDatabase } from '../rig/database.js';
import type { Rig } from '../rig/rig.js';
import { countExpired, multiplyRecords } from './records.js';

const EXPIRED = 1_000_000;

const ONE_KEY = { prefix: 'model', count: 1 };

/** S6: S1 while the purge, in the same server, removes expired records. */
export async function measurePurge(rig: Rig): Promise<Measurement[]> {
  const database = await BenchmarkDatabase.create(rig.postgres, 'lease_purging');
  const measurements: Measurement[] = [];
  for (const adapter of rig.options.adapters) {
    const contestant = await startOn(rig, adapter, 'lease', database);
    measurements.push(...(await measureOn(rig, adapter, contestant)));
    contestant.server.stop();
  }
  await database.close();
  return measurements;
}

async function measureOn(rig: Rig, adapter: AdapterName, contestant: Contestant): Promise<Measurement[]> {
  const { rounds } = rig.options;
  const setting = { case: 'S6', adapter, ...usualSize(rig.options) } as const;
  const job = { ...setting, path: 'no-op' };
  const measureAlone = async (): Promise<Sample> => {
    await fill(rig, contestant);
    return (await measureSlice(rig, contestant, job)).sample;
  };
  const measurePurging = async (): Promise<Sample> => {
    const expired = await countExpired(contestant);
    let purgedPerSecond = 0;
    const { sample } = await measureSlice(rig, contestant, job, async () => {
      const begin = performance.now();
      const removed = await contestant.server.ask('purge');
      purgedPerSecond = removed / ((performance.now() - begin) / 1_000);
      rig.proofs.that(
        'the purge removes all that is expired',
        removed === expired,
        `${removed} of ${expired}`,
        expired,
      );
    });
    return { ...sample, purgedPerSecond };
  };
  const contestants = [
    { name: 'lease', measure: measureAlone },
    { name: 'lease-purging', measure: measurePurging },
  ];
  announce(setting, contestants, rounds);
  await warmUp(rig, contestant, job);
  return measureRounds(setting, contestants, rounds, ({ measure }) => measure());
}

async function fill(rig: Rig, contestant: Contestant): Promise<void> {
  await contestant.reset();
  await recordKeys(rig, contestant, { path: 'no-op', ...usualSize(rig.options), connections: 1 }, ONE_KEY);
  await multiplyRecords(contestant, Math.ceil(EXPIRED * rig.options.scale), { areExpired: true });
}
