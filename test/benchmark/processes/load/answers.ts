/** The status of what the handlers return. */
export const CREATED = 201;

export interface Target {
  url: string;
  path: string;
  connections: number;
  /** Length of the JSON that is sent, in bytes, at least. */
  bodyBytes: number;
}

/** How long requests are sent, one after the other on each connection. */
export interface Run {
  /** Otherwise until told to stop. */
  seconds?: number;
  /** Keys that are taken in turn; a new one for each request otherwise. */
  keys?: KeySet;
}

/** Keys that are named after their number. */
export interface KeySet {
  prefix: string;
  count: number;
}

/** What has come back. */
export interface RunResult {
  /** Requests that were sent, and answered. */
  requests: number;
  /** Answers with the right status before the time was over. */
  inTime: number;
  /** How long that time was. */
  seconds: number;
  /** Milliseconds, of the answers in time. */
  p50: number;
  p99: number;
  /** Answers with each status; 0 for a request without an answer. */
  statuses: Record<number, number>;
  /** Answers that are marked as replayed. */
  replayed: number;
}

/** What has come of requests with one key at the same moment. */
export interface BurstResult {
  statuses: Record<number, number>;
  /** Answers with the handler's own status that are no replay. */
  firsts: number;
  /** Milliseconds that each of the others took. */
  duplicates: number[];
}

/** What the load generator answers to the harness. */
export type LoadAnswers = {
  /** Makes the connections' clients; they connect with their first request. */
  open(target: Target): void;
  run(run: Run): Promise<RunResult>;
  /** Ends a run that has no end of its own. */
  stop(): void;
  /** One request for each key. */
  sendEach(keys: KeySet): Promise<RunResult>;
  /** One request on each connection at the same moment, all with one new key. */
  burst(): Promise<BurstResult>;
  close(): Promise<void>;
  /** Microseconds of CPU time since the start. */
  cpu(): number;
};
