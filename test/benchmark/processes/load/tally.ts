import { CREATED, type RunResult } from './answers.js';
import type { Answer } from './connection.js';

/** Counts answers, and keeps how long those in time took. */
export class Tally {
  readonly statuses: Record<number, number> = {};
  private readonly latencies: number[] = [];
  private requests = 0;
  private replayed = 0;

  add(answer: Answer, isInTime: boolean): void {
    this.requests += 1;
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
    if (answer.isReplayed) this.replayed += 1;
    if (isInTime && answer.status === CREATED) this.latencies.push(answer.took);
  }

  result(seconds: number): RunResult {
    const sorted = Float64Array.from(this.latencies).toSorted();
    const percentile = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    return {
      requests: this.requests,
      inTime: sorted.length,
      seconds,
      p50: percentile(0.5),
      p99: percentile(0.99),
      statuses: this.statuses,
      replayed: this.replayed,
    };
  }
}
