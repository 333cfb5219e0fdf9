import type { Measurement, Metric } from '../measure/sample.js';
import type { Figure } from '../plan/figures.js';
import type { AdapterName } from '../processes/server/settings.js';
import { disturbedRounds } from './disturbance.js';
import { type Spread, spreadOf } from './statistics.js';

/** Everything that was measured, and what follows from it. */
export class Evaluation {
  constructor(readonly measurements: readonly Measurement[]) {}

  /** Median and spread over the rounds that count. */
  spread(measurement: Measurement, metric: Metric): Spread | undefined {
    return spreadOf([...byRound(measurement, metric).values()]);
  }

  /** Of the ratios within each round. */
  ratio(measurement: Measurement, baseline: Measurement, metric: Metric): Spread | undefined {
    return spreadOf(ratiosOf(measurement, baseline, metric));
  }

  /** At the first number of connections; undefined where one of the two was not measured. */
  figure({ case: name, contestant, baseline, metric }: Figure, adapter: AdapterName): Spread | undefined {
    const find = (wanted: string) =>
      this.measurements.find(
        (one) => one.case === name && one.adapter === adapter && one.contestant === wanted,
      );
    const measurement = find(contestant);
    if (!measurement) return undefined;
    if (baseline === undefined) return this.spread(measurement, metric);
    const base = find(baseline);
    return base && this.ratio(measurement, base, metric);
  }

  /** The bare handler that this one was measured beside. */
  bareOf({ case: name, adapter, connections, bodyBytes }: Measurement): Measurement | undefined {
    return this.measurements.find(
      (one) =>
        one.contestant === 'bare' &&
        one.case === name &&
        one.adapter === adapter &&
        one.connections === connections &&
        one.bodyBytes === bodyBytes,
    );
  }
}

/** The ratios within each round that counts for both. */
export function ratiosOf(measurement: Measurement, baseline: Measurement, metric: Metric): number[] {
  const bases = byRound(baseline, metric);
  const values = [...byRound(measurement, metric)];
  return values.filter(([round]) => bases.has(round)).map(([round, value]) => value / bases.get(round)!);
}

function byRound(measurement: Measurement, metric: Metric): Map<number, number> {
  const disturbed = disturbedRounds(measurement);
  const found = measurement.samples.map((sample, round) => [round, sample[metric]] as const);
  return new Map(
    found.filter((entry): entry is [number, number] => entry[1] !== undefined && !disturbed.has(entry[0])),
  );
}
