import type { Measurement, Metric } from '../measure/sample.js';
import { CASES } from '../plan/cases.js';
import type { Evaluation } from './evaluation.js';
import { figureRows } from './figures.js';
import { formatSpread } from './format.js';

export interface Table {
  title: string;
  head: string[];
  rows: string[][];
}

const COLUMNS: readonly (readonly [Metric, string])[] = [
  ['requestsPerSecond', 'requests/s'],
  ['p50', 'p50, ms'],
  ['p99', 'p99, ms'],
  ['serverCpu', 'CPU server, µs'],
  ['postgresCpu', 'CPU Postgres, µs'],
  ['redisCpu', 'CPU Redis, µs'],
  ['statements', 'statements'],
  ['roundTrips', 'round trips'],
  ['commits', 'commits'],
  ['walSyncs', 'WAL syncs'],
  ['walBytes', 'WAL, bytes'],
  ['pages', 'pages'],
  ['heapOnly', 'heap-only updates'],
  ['duplicateMedian', 'duplicate, ms'],
  ['duplicateLongest', 'longest, ms'],
  ['purgedPerSecond', 'purged/s'],
];

/** The figures, and a table for each case, adapter and number of connections. */
export function tablesOf(evaluation: Evaluation): Table[] {
  const groups = new Map<string, Measurement[]>();
  for (const measurement of evaluation.measurements) {
    const title = titleOf(measurement);
    groups.set(title, [...(groups.get(title) ?? []), measurement]);
  }
  const tables = [...groups].map(([title, measurements]) => tableOf(title, measurements, evaluation));
  return [figureTable(evaluation), ...tables].filter(({ rows }) => rows.length > 0);
}

function figureTable(evaluation: Evaluation): Table {
  const head = ['case', 'adapter', 'figure', 'measured', 'to be reached', 'reached'];
  return { title: 'Figures', head, rows: figureRows(evaluation) };
}

function titleOf({ case: name, adapter, connections, bodyBytes }: Measurement): string {
  return `${name}, ${adapter}, ${connections} connections, bodies of ${bodyBytes} bytes: ${CASES[name]}`;
}

/** Without the columns in which nobody has anything. */
function tableOf(title: string, measurements: readonly Measurement[], evaluation: Evaluation): Table {
  const columns = COLUMNS.filter(([metric]) => measurements.some((one) => evaluation.spread(one, metric)));
  const rows = measurements.map((one) => {
    const bare = evaluation.bareOf(one);
    return [
      one.contestant,
      ...(bare ? [formatSpread(evaluation.ratio(one, bare, 'requestsPerSecond'))] : []),
      ...columns.map(([metric]) => formatSpread(evaluation.spread(one, metric))),
    ];
  });
  const ratio = evaluation.bareOf(measurements[0]!) ? ['of bare'] : [];
  return { title, head: ['', ...ratio, ...columns.map(([, label]) => label)], rows };
}
