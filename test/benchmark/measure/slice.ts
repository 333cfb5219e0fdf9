import type { KeySet, RunResult } from '../processes/load/answers.js';
import type { Contestant } from '../rig/contestant.js';
import type { Rig } from '../rig/rig.js';
import { Expenses } from './expenses.js';
import type { Job } from './job.js';
import { proveAnswers, proveExecutions } from './prove.js';
import type { Sample } from './sample.js';

export interface Slice {
  sample: Sample;
  /** All that were sent, also those that were not measured. */
  requests: number;
}

/** For how long, or until what is over. */
export type Extent = number | (() => Promise<unknown>);

/** Seconds of load before a slice, in which connections are made, and which are not measured. */
const RAMP = 0.25;

/** Measures one contestant once. */
export async function measureSlice(
  rig: Rig,
  contestant: Contestant,
  job: Job,
  extent: Extent = rig.options.seconds,
): Promise<Slice> {
  return withLoad(rig, contestant, job, async () => {
    const ramp = await run(rig, job, RAMP);
    const expenses = await Expenses.begin(rig, contestant);
    const result = await run(rig, job, extent);
    const { metrics, executions } = await expenses.end(result.requests);
    proveAnswers(rig.proofs, contestant, job, ramp);
    proveAnswers(rig.proofs, contestant, job, result);
    proveExecutions(rig.proofs, contestant, job, result.requests, executions);
    const { inTime, seconds, p50, p99, requests } = result;
    return {
      sample: { requestsPerSecond: inTime / seconds, p50, p99, ...metrics },
      requests: ramp.requests + requests,
    };
  });
}

/** Load that is not measured. */
export async function warmUp(rig: Rig, contestant: Contestant, job: Job): Promise<void> {
  const result = await withLoad(rig, contestant, job, () => run(rig, job, rig.options.warmUpSeconds));
  proveAnswers(rig.proofs, contestant, job, result);
}

/** Records the keys that will be asked for again. */
export async function recordKeys(rig: Rig, contestant: Contestant, job: Job, keys: KeySet): Promise<void> {
  const result = await withLoad(rig, contestant, job, () => rig.load.ask('sendEach', keys));
  proveAnswers(rig.proofs, contestant, job, result);
}

/** Opens the connections of the job for as long as the work takes. */
export async function withLoad<T>(
  { load }: Rig,
  { url }: Contestant,
  { path, connections, bodyBytes }: Job,
  work: () => Promise<T>,
): Promise<T> {
  await load.ask('open', { url, path: `/${path}`, connections, bodyBytes });
  const result = await work();
  await load.ask('close');
  return result;
}

async function run({ load }: Rig, { recorded: keys }: Job, extent: Extent): Promise<RunResult> {
  if (typeof extent === 'number') return load.ask('run', { seconds: extent, keys });
  const running = load.ask('run', { keys });
  await extent().finally(() => load.ask('stop'));
  return running;
}
