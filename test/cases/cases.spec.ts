import { describe, expect, it } from '@jest/globals';

import { caseTestsOf, rowsOf, type JestReport } from './jest-report.js';
import { REQUIRED_ROWS } from './required-rows.js';
import { judge, type Verdict } from './verdicts.js';

const ADAPTERS = ['express', 'fastify'];

function reportOf(...tests: Array<[describes: string, title: string, status: string]>): JestReport {
  const assertionResults = tests.map(([describes, title, status]) => ({
    ancestorTitles: describes.split(' > '),
    title,
    status,
  }));
  return { testResults: [{ assertionResults }] } as JestReport;
}

function verdictOn(row: string, adapter: string, report: JestReport): Verdict {
  return judge([row], [adapter], caseTestsOf(report, ADAPTERS))[0]!;
}

describe('the rows of a title', () => {
  it.each([
    ['C1: a replay has the same bytes', ['C1']],
    ['C15, C16: what counts as the same request', ['C15', 'C16']],
    ['A1,A2: without a space', ['A1', 'A2']],
    ['replays C1: not at the beginning', []],
    ['C1 without a colon', []],
    ['C1 and C2: not a list', []],
  ])('of %j are %j', (title, rows) => {
    expect(rowsOf(title)).toEqual(rows);
  });
});

describe('the verdict on a row', () => {
  it('is that it holds when all of its tests on the adapter have passed', () => {
    const report = reportOf(
      ['replay > express', 'C1: one', 'passed'],
      ['express > replay', 'C1, C2: another', 'passed'],
      ['fastify', 'C1: one', 'failed'],
    );
    expect(verdictOn('C1', 'express', report)).toMatchObject({ tests: 2, passed: true });
    expect(verdictOn('C2', 'express', report)).toMatchObject({ tests: 1, passed: true });
  });

  it('is that it fails when one of its tests has failed', () => {
    const report = reportOf(['express', 'C1: one', 'passed'], ['express', 'C1: another', 'failed']);
    expect(verdictOn('C1', 'express', report).passed).toBe(false);
  });

  it.each(['pending', 'todo', 'disabled', 'skipped'])('is that it fails when a test is %s', (status) => {
    const report = reportOf(['express', 'C1: one', 'passed'], ['express', 'C1: another', status]);
    expect(verdictOn('C1', 'express', report).passed).toBe(false);
  });

  it('is that it fails when no test serves it, or only ones of the other adapter or of none', () => {
    const report = reportOf(['fastify', 'C1: one', 'passed'], ['unit', 'C1: one', 'passed']);
    expect(verdictOn('C1', 'express', report)).toMatchObject({ tests: 0, passed: false });
  });

  it('does not take C1 for C10', () => {
    const report = reportOf(['express', 'C10: one', 'passed']);
    expect(verdictOn('C1', 'express', report).passed).toBe(false);
  });
});

describe('the required rows', () => {
  it('are 7 of A, 10 of B and 42 of C', () => {
    const tables = REQUIRED_ROWS.map((row) => row[0]);
    expect(tables.join('')).toBe('A'.repeat(7) + 'B'.repeat(10) + 'C'.repeat(42));
  });
});
