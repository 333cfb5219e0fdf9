import { announce, measureRounds } from '../measure/rounds.js';
import type { Measurement, Sample } from '../measure/sample.js';
import { withLoad } from '../measure/slice.js';
import { type BurstResult, CREATED } from '../processes/load/answers.js';
import { usualSize } from '../options.js';
import type { AdapterName } from '../processes/server/settings.js';
import { median } from '../report/statistics.js';
import type { Contestant } from '../rig/contestant.js';
import type { Rig } from '../rig/rig.js';

/** Keys that are tried in each round. */
const BURSTS = 5;

const CONFLICT = 409;

/** S4: all connections ask for one new key at the same moment. */
export async function measureBursts(
  rig: Rig,
  adapter: AdapterName,
  contestants: readonly Contestant[],
): Promise<Measurement[]> {
  const { rounds } = rig.options;
  const setting = { case: 'S4', adapter, ...usualSize(rig.options) } as const;
  announce(setting, contestants, rounds);
  return measureRounds(setting, contestants, rounds, (contestant) =>
    withLoad(rig, contestant, { ...setting, path: 'slow' }, async () => {
      // Makes the connections, of the clients and of the server.
      await burst(rig, contestant);
      const results: BurstResult[] = [];
      for (let index = 0; index < BURSTS; index += 1) results.push(await burst(rig, contestant));
      return toSample(results);
    }),
  );
}

async function burst({ load, proofs }: Rig, { name, server }: Contestant): Promise<BurstResult> {
  const before = await server.ask('usage');
  const result = await load.ask('burst');
  const after = await server.ask('usage');
  const executions = after.executions - before.executions;
  const { statuses, firsts } = result;
  proofs.that(
    'of requests with one key at the same moment one is executed',
    executions === 1 && firsts === 1,
    `${name}: ${executions} executions, ${firsts} first answers`,
  );
  const answered = (statuses[CREATED] ?? 0) + (statuses[CONFLICT] ?? 0);
  proofs.that(
    'the others are told to wait, or get its answer',
    answered === result.duplicates.length + 1,
    `${name}: ${JSON.stringify(statuses)}`,
    result.duplicates.length,
  );
  return result;
}

function toSample(results: readonly BurstResult[]): Sample {
  const latencies = results.flatMap(({ duplicates }) => duplicates);
  return { duplicateMedian: median(latencies), duplicateLongest: Math.max(...latencies) };
}
