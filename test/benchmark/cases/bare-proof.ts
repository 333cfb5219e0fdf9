import type { Measurement } from '../measure/sample.js';
import { measureSlice } from '../measure/slice.js';
import { usualSize } from '../options.js';
import type { AdapterName } from '../processes/server/settings.js';
import { ratiosOf } from '../report/evaluation.js';
import { median } from '../report/statistics.js';
import { type Contestant, PLAIN } from '../rig/contestant.js';
import type { Rig } from '../rig/rig.js';

/** What the bare app must reach of the plain one, so that nothing around the handlers flatters the ratios. */
const LEAST = 0.95;

/** More rounds of these two alone, where those of S1 leave it open. */
const MORE_ROUNDS = 6;

/** What would be ours in the list of scripts that a process has loaded. */
const OURS = /libs\/(idempotency|redis)|@exactly-once/;

/** Proves that the baseline is one: nothing of the library is in it, and it is as quick as an app without us. */
export async function proveBare(
  rig: Rig,
  adapter: AdapterName,
  contestants: readonly Contestant[],
  measurements: readonly Measurement[],
): Promise<void> {
  const plain = contestants.find(({ name }) => name === PLAIN);
  const bare = contestants.find(({ name }) => name === 'bare');
  if (!plain || !bare) return;
  const { connections, bodyBytes } = usualSize(rig.options);
  const find = (name: string) =>
    measurements.find(
      (one) => one.contestant === name && one.connections === connections && one.bodyBytes === bodyBytes,
    )!;
  const ratios = ratiosOf(find('bare'), find(PLAIN), 'requestsPerSecond');
  for (let round = 0; median(ratios) < LEAST && round < MORE_ROUNDS; round += 1) {
    // In turn the other one first, so that a machine that becomes slower speaks for neither.
    const first = round % 2 === 0 ? await rateOf(rig, bare) : undefined;
    const ofPlain = await rateOf(rig, plain);
    ratios.push((first ?? (await rateOf(rig, bare))) / ofPlain);
  }
  const ratio = median(ratios);
  const text = `${adapter}: the bare app reaches ${ratio.toFixed(2)} of a plain Nest app`;
  rig.proofs.that(`${text}, at least ${LEAST}`, ratio >= LEAST, text, ratios.length);
  await proveImports(rig, bare);
}

async function rateOf(rig: Rig, contestant: Contestant): Promise<number> {
  const { sample } = await measureSlice(rig, contestant, { path: 'no-op', ...usualSize(rig.options) });
  return sample.requestsPerSecond!;
}

async function proveImports({ proofs }: Rig, { server }: Contestant): Promise<void> {
  const scripts = await server.ask('loadedScripts');
  const ours = scripts.filter((script) => OURS.test(script));
  proofs.that(
    'of the scripts that the bare app has loaded none is ours',
    ours.length === 0,
    ours.join(),
    scripts.length,
  );
}
