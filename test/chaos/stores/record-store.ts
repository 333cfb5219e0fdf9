import type { ChaosProxy } from '../proxy/chaos-proxy.js';
import type { Protocol } from '../proxy/protocol.js';
import type { RestartableServer } from '../restarts.js';

/** An idempotency record, as it is found at the end. */
export interface RecordFact {
  key: string;
  operation: string;
  attempt: number;
  /** `abandoned`: in progress past its lease. */
  state: 'completed' | 'in progress' | 'abandoned';
  /** What else a timeline shows of it. */
  row: object;
}

/** Where the idempotency records of one run are. */
export interface RecordStore {
  /** What is restarted, and to which connections are cut off. */
  readonly server: RestartableServer;
  /** Of one connection to it. */
  protocol(): Protocol;
  /** The environment in which the app has its records there, by way of this proxy. */
  environment(proxy: ChaosProxy): NodeJS.ProcessEnv;
  records(): Promise<RecordFact[]>;
  /** How many leases are live. */
  countLiveLeases(): Promise<number>;
}
