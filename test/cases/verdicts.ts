import type { CaseTest } from './jest-report.js';

export interface Verdict {
  row: string;
  adapter: string;
  /** How many tests serve the row on this adapter. */
  tests: number;
  passed: boolean;
}

/** A row holds on an adapter when there is a test of it, and all of them have passed. */
export function judge(rows: readonly string[], adapters: readonly string[], tests: CaseTest[]): Verdict[] {
  return rows.flatMap((row) =>
    adapters.map((adapter) => {
      const own = tests.filter((test) => test.adapter === adapter && test.rows.includes(row));
      return { row, adapter, tests: own.length, passed: own.length > 0 && own.every((test) => test.passed) };
    }),
  );
}
