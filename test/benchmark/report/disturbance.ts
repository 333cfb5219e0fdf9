import type { Measurement } from '../measure/sample.js';
import { median } from './statistics.js';

/** By how much of the machine the share of others may exceed what is usual for a contestant. */
const TOLERANCE = 0.15;

/** With fewer rounds a median says nothing, so that all of them count then. */
const LEAST_ROUNDS = 3;

/** The rounds, by number, in which something else on the machine took so much that they do not count. */
export function disturbedRounds({ samples }: Measurement): Set<number> {
  const shares = samples.map(({ foreign }) => foreign ?? 0);
  const usual = median(shares);
  const disturbed = [...shares.keys()].filter((round) => shares[round]! > usual + TOLERANCE);
  return new Set(samples.length - disturbed.length < LEAST_ROUNDS ? [] : disturbed);
}

/** Whether the machine had something else to do, in words. */
export function describeDisturbance(measurements: readonly Measurement[]): string[] {
  const samples = measurements.flatMap((measurement) => measurement.samples);
  const shares = samples.map(({ foreign }) => foreign).filter((share) => share !== undefined);
  if (shares.length === 0) return [];
  const usual = Math.round(median(shares) * 100);
  const leftOut = measurements.reduce((sum, measurement) => sum + disturbedRounds(measurement).size, 0);
  return [
    `Others took ${usual} % of the machine at the median. ` +
      `${leftOut} of ${samples.length} slices do not count, since it was far more then.`,
  ];
}
