import type { AdapterName } from '../processes/server/settings.js';
import type { CaseName } from '../plan/cases.js';

/** What is measured in a slice; times are of one request unless they are latencies. */
export type Metric =
  | 'requestsPerSecond'
  /** Milliseconds. */
  | 'p50'
  | 'p99'
  /** Microseconds of CPU time of the server … */
  | 'serverCpu'
  /** … of all processes of Postgres … */
  | 'postgresCpu'
  /** … and of Redis, where the server uses it. */
  | 'redisCpu'
  /** Statements that Postgres has executed, those of transaction control included. */
  | 'statements'
  /** Queries that the server has sent. */
  | 'roundTrips'
  /** Transactions that were committed, those that only read included. */
  | 'commits'
  /** Times that the write-ahead log was forced to disk … */
  | 'walSyncs'
  /** … and what was added to it. */
  | 'walBytes'
  /** Pages of tables and indexes that statements have touched. */
  | 'pages'
  /** Share of updates that touched no index; of all updates in the slice. */
  | 'heapOnly'
  /** Share of the machine's CPU time that was used by none of the processes of the benchmark. */
  | 'foreign'
  /** Milliseconds until a duplicate in flight has its answer: the median and the longest. */
  | 'duplicateMedian'
  | 'duplicateLongest'
  /** Records that the purge has removed in a second. */
  | 'purgedPerSecond';

/** What one contestant did in one round; what does not apply is missing. */
export type Sample = Partial<Record<Metric, number>>;

/** All rounds of one contestant. */
export interface Measurement {
  case: CaseName;
  adapter: AdapterName;
  connections: number;
  /** Size of the JSON that is sent and sent back. */
  bodyBytes: number;
  contestant: string;
  /** In the order of the rounds. */
  samples: Sample[];
}
