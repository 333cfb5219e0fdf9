import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Measurement, Metric } from '../measure/sample.js';
import type { Evaluation } from './evaluation.js';
import { drawPlot, type Plot, type Series } from './plot.js';

/** Fewer points show no growth. */
const LEAST_POINTS = 3;

const METRICS: readonly (readonly [metric: Metric, file: string, label: string])[] = [
  ['requestsPerSecond', 'throughput', 'requests/s'],
  ['serverCpu', 'server-cpu', 'CPU of the server, µs a request'],
];

const AXES = [
  { by: 'connections', label: 'connections', fixed: 'bodyBytes' },
  { by: 'bodyBytes', label: 'bytes of the body', fixed: 'connections' },
] as const;

/** What was measured at several numbers of connections, or with several sizes of bodies, as pictures by file name. */
export function plotsOf(evaluation: Evaluation): Map<string, Plot> {
  const plots = new Map<string, Plot>();
  for (const { by, label, fixed } of AXES) {
    for (const [metric, file, yLabel] of METRICS) {
      const series = seriesOf(evaluation, by, fixed, metric);
      if (series.length > 0) {
        plots.set(`${file}-by-${by === 'bodyBytes' ? 'body' : by}.svg`, {
          title: `${yLabel} by ${label}`,
          xLabel: label,
          yLabel,
          series,
        });
      }
    }
  }
  return plots;
}

export async function writePlots(folder: string, plots: ReadonlyMap<string, Plot>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [file, plot] of plots) await writeFile(join(folder, file), drawPlot(plot));
}

function seriesOf(
  evaluation: Evaluation,
  by: 'connections' | 'bodyBytes',
  fixed: 'connections' | 'bodyBytes',
  metric: Metric,
): Series[] {
  const { measurements } = evaluation;
  const usual = measurements[0]?.[fixed];
  const groups = new Map<string, Measurement[]>();
  for (const one of measurements.filter((candidate) => candidate[fixed] === usual)) {
    const name = `${one.case} ${one.contestant}`;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups]
    .filter(([name]) => SHOWN.has(name))
    .map(([name, ofGroup]) => ({
      name,
      points: ofGroup.flatMap((one) => {
        const spread = evaluation.spread(one, metric);
        return spread ? [{ x: one[by], y: spread.median }] : [];
      }),
    }))
    .filter(({ points }) => points.length >= LEAST_POINTS);
}

/** A picture of all would be a tangle. */
const SHOWN: ReadonlySet<string> = new Set([
  'S1 bare',
  'S1 lease',
  'S2 bare',
  'S2 transaction',
  'S3 lease',
  'S3 transaction',
]);
