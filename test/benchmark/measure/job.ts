import type { KeySet } from '../processes/load/answers.js';

/** How a contestant is loaded. */
export interface Job {
  path: string;
  connections: number;
  /** Size of the JSON that is sent. */
  bodyBytes: number;
  /** Keys that are asked for in turn, after they were recorded; a new one for each request otherwise. */
  recorded?: KeySet;
}
