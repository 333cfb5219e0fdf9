import { type Figure, FIGURES } from '../plan/figures.js';
import type { AdapterName } from '../processes/server/settings.js';
import type { Evaluation } from './evaluation.js';
import { formatNumber, formatSpread } from './format.js';
import type { Spread } from './statistics.js';

interface MeasuredFigure {
  figure: Figure;
  adapter: AdapterName;
  spread: Spread;
}

/** One line for each ratio, for programs. */
export function ratioLines(evaluation: Evaluation): string[] {
  return measuredFigures(evaluation)
    .filter(({ figure }) => figure.baseline !== undefined)
    .map(({ figure: { case: name, contestant, baseline }, adapter, spread: { median, min, max } }) => {
      const suffix = adapter === 'fastify' ? '-fastify' : '';
      const numbers = [median, min, max].map((value) => value.toFixed(2));
      return `RATIO ${name} ${contestant}${suffix} ${baseline}${suffix} ${numbers.join(' ')}`;
    });
}

/** Rows of a table: case, adapter, what, reached, to be reached. */
export function figureRows(evaluation: Evaluation): string[][] {
  return measuredFigures(evaluation).map(({ figure, adapter, spread }) => {
    const target = figure.targets[adapter]!;
    const isReached = figure.isUpperBound ? spread.median <= target : spread.median >= target;
    const bound = `${figure.isUpperBound ? '≤' : '≥'} ${formatNumber(target)}`;
    return [figure.case, adapter, describe(figure), formatSpread(spread), bound, isReached ? 'yes' : 'no'];
  });
}

function describe({ contestant, baseline, metric }: Figure): string {
  const what = { duplicateMedian: ', time of a duplicate', purgedPerSecond: ', records purged/s' };
  const suffix = what[metric as keyof typeof what] ?? '';
  return baseline === undefined ? `${contestant}${suffix}` : `${contestant} / ${baseline}${suffix}`;
}

function measuredFigures(evaluation: Evaluation): MeasuredFigure[] {
  return FIGURES.flatMap((figure) =>
    (Object.keys(figure.targets) as AdapterName[]).flatMap((adapter) => {
      const spread = evaluation.figure(figure, adapter);
      return spread ? [{ figure, adapter, spread }] : [];
    }),
  );
}
