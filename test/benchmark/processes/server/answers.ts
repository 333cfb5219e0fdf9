/** What a server has used since its start. */
export interface Usage {
  /** Microseconds of CPU time, in the process and in the kernel for it. */
  cpu: number;
  /** Times that a handler has run. */
  executions: number;
  /** Queries that the Postgres client has sent, each a round trip. */
  roundTrips: number;
}

/** Connections that have reported, and what they are set to. */
export interface ReportedConnections {
  count: number;
  /** Values of `synchronous_commit` in these sessions, each once. */
  synchronousCommit: string[];
}

/** What a server answers to the harness. */
export type ServerAnswers = {
  url(): string;
  usage(): Usage;
  /** Has each pooled connection report its statistics now; by itself it does so once a second. */
  reportStatistics(): Promise<ReportedConnections>;
  /** Removes expired records; how many. */
  purge(): Promise<number>;
  /** Bytes that are in use after a garbage collection. */
  heap(): number;
  /** The scripts that the process has loaded, as URLs or paths. */
  loadedScripts(): Promise<string[]>;
};
