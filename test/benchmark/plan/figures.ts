import type { Metric } from '../measure/sample.js';
import type { AdapterName } from '../processes/server/settings.js';
import type { CaseName } from './cases.js';

/** What is to be reached in one case: by a ratio of two contestants, round by round, or by one of them alone. */
export interface Figure {
  case: CaseName;
  contestant: string;
  baseline?: string;
  metric: Metric;
  /** What is to be reached, on which adapters. */
  targets: Partial<Record<AdapterName, number>>;
  /** Whether less is better. */
  isUpperBound?: boolean;
}

const both = (value: number) => ({ express: value, fastify: value });
const metric = 'requestsPerSecond';

export const FIGURES: readonly Figure[] = [
  { case: 'S1', contestant: 'lease', baseline: 'bare', metric, targets: { express: 0.6, fastify: 0.38 } },
  { case: 'S1', contestant: 'lease', baseline: 'recipe', metric, targets: both(2) },
  { case: 'S1', contestant: 'lease', baseline: 'node-idempotency', metric, targets: { express: 0.75 } },
  {
    case: 'S1',
    contestant: 'lease-redis',
    baseline: 'node-idempotency',
    metric,
    targets: { express: 0.95, fastify: 1 },
  },
  {
    case: 'S2',
    contestant: 'transaction',
    baseline: 'bare',
    metric,
    targets: { express: 0.75, fastify: 0.65 },
  },
  {
    case: 'S3',
    contestant: 'transaction',
    baseline: 'bare',
    metric,
    targets: { express: 0.65, fastify: 0.4 },
  },
  { case: 'S3', contestant: 'lease', baseline: 'bare', metric, targets: { express: 0.65, fastify: 0.4 } },
  {
    case: 'S4',
    contestant: 'lease',
    baseline: 'lease-unbatched',
    metric: 'duplicateMedian',
    targets: both(0.5),
    isUpperBound: true,
  },
  { case: 'S5', contestant: 'lease-5m', baseline: 'lease-10k', metric, targets: both(0.9) },
  { case: 'S6', contestant: 'lease-purging', baseline: 'lease', metric, targets: both(0.7) },
  { case: 'S6', contestant: 'lease-purging', metric: 'purgedPerSecond', targets: both(20_000) },
];
