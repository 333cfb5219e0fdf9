/** The part of the report of `jest --json` that is used here. */
export interface JestReport {
  testResults: Array<{
    assertionResults: Array<{
      ancestorTitles: string[];
      title: string;
      status: 'passed' | 'failed' | 'pending' | 'todo' | 'disabled' | 'skipped' | 'focused';
    }>;
  }>;
}

export interface CaseTest {
  rows: string[];
  /** Of the `describe` that `onEachAdapter` makes, or undefined outside one. */
  adapter: string | undefined;
  passed: boolean;
}

const TITLE = /^((?:[A-Z]\d+)(?:, ?[A-Z]\d+)*):/;

/** The rows that a test's title begins with, as in `C15, C16: …`. */
export function rowsOf(title: string): string[] {
  return TITLE.exec(title)?.[1]?.split(/, ?/) ?? [];
}

/** A test that was skipped has not passed: it shows nothing. */
export function caseTestsOf(report: JestReport, adapters: readonly string[]): CaseTest[] {
  return report.testResults
    .flatMap((file) => file.assertionResults)
    .map(({ title, ancestorTitles, status }) => ({
      rows: rowsOf(title),
      adapter: ancestorTitles.find((ancestor) => adapters.includes(ancestor)),
      passed: status === 'passed',
    }))
    .filter(({ rows }) => rows.length > 0);
}
