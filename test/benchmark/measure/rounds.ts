import type { Measurement, Sample } from './sample.js';

/** What the measurements of these rounds have in common. */
export type Setting = Pick<Measurement, 'case' | 'adapter' | 'connections' | 'bodyBytes'>;

export interface Named {
  name: string;
}

/**
 * Everybody once, and then everybody again: the machine's speed changes within minutes, so that only what was
 * measured in one round can be compared.
 */
export async function measureRounds<C extends Named>(
  setting: Setting,
  contestants: readonly C[],
  rounds: number,
  measure: (contestant: C) => Promise<Sample>,
): Promise<Measurement[]> {
  const measurements = contestants.map(({ name }) => ({
    ...setting,
    contestant: name,
    samples: [] as Sample[],
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, contestant] of contestants.entries()) {
      measurements[index]!.samples.push(await measure(contestant));
    }
  }
  return measurements;
}

export function announce(setting: Setting, contestants: readonly Named[], rounds: number): void {
  const names = contestants.map(({ name }) => name).join(' ');
  const { case: name, adapter, connections, bodyBytes } = setting;
  console.log(
    `${name}, ${adapter}, ${connections} connections, bodies of ${bodyBytes} bytes, ${rounds} rounds: ${names}`,
  );
}
