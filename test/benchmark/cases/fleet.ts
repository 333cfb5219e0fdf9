import type { CaseName } from '../plan/cases.js';
import { variantsOf } from '../plan/contestants.js';
import { type AdapterName, VARIANTS, type VariantName } from '../processes/server/settings.js';
import {
  type Contestant,
  MissingOptionError,
  PLAIN,
  startPlain,
  startVariant,
  stop,
} from '../rig/contestant.js';
import { usesRedis } from '../rig/redis.js';
import type { Rig } from '../rig/rig.js';

/** The servers of one adapter. They run side by side, and have something to do one at a time. */
export class Fleet {
  private constructor(
    private readonly rig: Rig,
    private readonly adapter: AdapterName,
    private readonly contestants: readonly Contestant[],
    /** What is missing, and why. */
    readonly skipped: readonly string[],
  ) {}

  /** Starts what these cases need. */
  static async start(rig: Rig, adapter: AdapterName, cases: readonly CaseName[]): Promise<Fleet> {
    const needed = new Set(cases.flatMap((name) => variantsOf(name, adapter, rig.options)));
    const variants = VARIANTS.filter((variant) => needed.has(variant));
    const started = await Promise.all(variants.map((variant) => startUnlessMissing(rig, adapter, variant)));
    const plain = cases.includes('S1') && needed.has('bare') ? [await startPlain(rig, adapter)] : [];
    const contestants = started.filter((one) => typeof one !== 'string');
    const skipped = started.filter((one) => typeof one === 'string');
    return new Fleet(rig, adapter, [...plain, ...contestants], skipped);
  }

  /** Those that take part in a case. */
  of(name: CaseName): Contestant[] {
    const variants: string[] = variantsOf(name, this.adapter, this.rig.options);
    return this.contestants.filter(
      (one) => variants.includes(one.name) || (name === 'S1' && one.name === PLAIN),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.contestants.map(stop));
  }
}

async function startUnlessMissing(
  rig: Rig,
  adapter: AdapterName,
  variant: VariantName,
): Promise<Contestant | string> {
  if (usesRedis(variant) && typeof rig.redis === 'string') {
    return `${variant}, ${adapter}: ${rig.redis}`;
  }
  try {
    return await startVariant(rig, adapter, variant);
  } catch (error) {
    if (error instanceof MissingOptionError) return `${variant}, ${adapter}: ${error.message}`;
    throw error;
  }
}
