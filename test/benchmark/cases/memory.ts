import { withLoad } from '../measure/slice.js';
import { usualSize } from '../options.js';
import type { AdapterName } from '../processes/server/settings.js';
import { startVariant, stop } from '../rig/contestant.js';
import type { Rig } from '../rig/rig.js';

/** Requests after which all that is kept for good is there. */
const FIRST = 20_000;
const ALL = 200_000;

/** Of the heap after the first requests. */
const MOST_GROWTH = 0.15;

/** Seconds of load between two looks at the number of requests. */
const STRETCH = 2;

/** Proves that the requests of S1 leave nothing behind in the server. */
export async function proveMemory(rig: Rig, adapter: AdapterName): Promise<void> {
  const contestant = await startVariant(rig, adapter, 'lease');
  const job = { path: 'no-op', ...usualSize(rig.options) };
  let requests = 0;
  const heapAfter = (total: number): Promise<number> =>
    withLoad(rig, contestant, job, async () => {
      while (requests < total) {
        requests += (await rig.load.ask('run', { seconds: STRETCH })).requests;
      }
      return contestant.server.ask('heap');
    });
  const first = await heapAfter(FIRST);
  const last = await heapAfter(ALL);
  const sizes = [first, last].map((bytes) => `${(bytes / 1e6).toFixed(1)} MB`).join(', then ');
  const ratio = last / first;
  const found = `${adapter}: ${sizes} after ${requests.toLocaleString('en')} requests, ${ratio.toFixed(2)} of it`;
  console.log(`HEAP lease ${found}`);
  const statement = `the heap after ${ALL.toLocaleString('en')} requests is at most ${MOST_GROWTH * 100} % above that after ${FIRST.toLocaleString('en')}`;
  rig.proofs.that(statement, ratio <= 1 + MOST_GROWTH, found);
  await stop(contestant);
}
