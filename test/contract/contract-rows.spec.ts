import { describe, expect, it } from '@jest/globals';

import type { JestReport } from '../cases/jest-report.js';
import { hasFailed, isLeftOut, missingRows, rowsOf } from './contract-rows.js';
import { CALLERS, NO_REDIS, STORES } from './contract-stores.js';
import { blockTitles } from './contract-titles.js';
import { tableOf } from './table.js';

type Test = [store: string, server: string, callers: number, title: string, status: string];

/** One file for each test, inside of a block of its own, as the suites on Redis have it. */
function reportOf(...tests: Test[]): JestReport {
  const testResults = tests.map(([store, server, callers, title, status]) => ({
    assertionResults: [
      { ancestorTitles: ['around', ...blockTitles({ store, server, callers })], title, status },
    ],
  }));
  return { testResults } as JestReport;
}

const rowsFrom = (...tests: Test[]) => rowsOf(reportOf(...tests), STORES);

describe('the rows of a report', () => {
  it('are one for each store, server and number of callers, in the order of the stores', () => {
    const rows = rowsFrom(
      ['Redis, ioredis 5', 'Redis 8', 64, 'a', 'passed'],
      ['Redis, ioredis 5', 'Redis 8', 16, 'a', 'passed'],
      ['in memory', 'none', 16, 'a', 'passed'],
      ['in memory', 'none', 16, 'b', 'passed'],
    );

    expect(rows).toEqual([
      { store: 'in memory', server: 'none', callers: 16, cases: 2, passed: 2, notPassed: [] },
      { store: 'Redis, ioredis 5', server: 'Redis 8', callers: 16, cases: 1, passed: 1, notPassed: [] },
      { store: 'Redis, ioredis 5', server: 'Redis 8', callers: 64, cases: 1, passed: 1, notPassed: [] },
    ]);
    expect(rows.some(hasFailed)).toBe(false);
  });

  it('have nothing of tests that are no cases of the contract', () => {
    const report = { testResults: [{ assertionResults: [{ ancestorTitles: ['16 callers'], title: 'a' }] }] };

    expect(rowsOf(report as JestReport, STORES)).toEqual([]);
  });

  it.each(['failed', 'pending', 'skipped', 'todo'])('have failed with a case that is %s', (status) => {
    const [row] = rowsFrom(['in memory', 'none', 16, 'a', 'passed'], ['in memory', 'none', 16, 'b', status]);

    expect(row).toMatchObject({ cases: 2, passed: 1, notPassed: ['b'] });
    expect(hasFailed(row!)).toBe(true);
  });

  it('are left out, and have not failed, where the machine has no server for them', () => {
    const [row] = rowsFrom(['Redis, ioredis 5', NO_REDIS, 16, 'a', 'pending']);

    expect([isLeftOut(row!), hasFailed(row!)]).toEqual([true, false]);
  });
});

describe('a row is missing', () => {
  it('when its store was not tried with so many callers, whoever else was', () => {
    const rows = rowsFrom(
      ['in memory', 'none', 16, 'a', 'passed'],
      ['Redis, ioredis 5', 'Redis 8', 64, 'a', 'passed'],
    );

    expect(missingRows(rows, ['in memory', 'Redis, ioredis 5'])).toEqual([
      'in memory, 64 callers',
      'Redis, ioredis 5, 16 callers',
    ]);
  });

  it('of each store and number of callers, when nothing has run', () => {
    expect(missingRows([], STORES)).toHaveLength(STORES.length * CALLERS.length);
  });
});

describe('the table', () => {
  it('has a line for each row', () => {
    expect(
      tableOf(rowsFrom(['in memory', 'none', 16, 'a', 'passed'], ['in memory', 'none', 16, 'b', 'failed'])),
    ).toBe(
      `
| store     | server | callers | cases | passed |
| --------- | ------ | ------- | ----- | ------ |
| in memory | none   | 16      | 2     | 1      |`.trim(),
    );
  });
});
