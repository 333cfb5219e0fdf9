import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import type { JestReport } from '../cases/jest-report.js';
import { runJest } from '../support/run-jest.js';
import { type ContractRow, hasFailed, isLeftOut, missingRows, rowsOf } from './contract-rows.js';
import { ON_POSTGRES, STORES } from './contract-stores.js';
import { CONTRACT } from './contract-titles.js';
import { tableOf } from './table.js';

const SUITES = 'contract\\.spec\\.ts$';
const POSTGRES_SUITES = ['test/stores/own-store-contract.spec.ts', 'test/testing-kit/store-contract.spec.ts'];

interface Result {
  rows: ContractRow[];
  missing: string[];
  exitCode: number;
}

// Another run's report can be given, e.g. the one of `npm test -- --json --outputFile=…`.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'string' } },
});
const [given] = positionals;

const results = [
  given ? await read(given, STORES, 0) : await run([SUITES], STORES, '.reports/contract.json'),
];
if (values.postgres) {
  // What the tests run on in place of the embedded one.
  process.env['DATABASE_URL'] = values.postgres;
  results.push(await run(POSTGRES_SUITES, ON_POSTGRES, '.reports/contract-postgres.json'));
}

print(results);
process.exitCode = results.every(isGood) ? 0 : 1;

async function run(suites: string[], stores: readonly string[], report: string): Promise<Result> {
  const args = [...suites, '--testNamePattern', CONTRACT, '--json', `--outputFile=${report}`];
  return read(report, stores, await runJest(args, report));
}

async function read(path: string, stores: readonly string[], exitCode: number): Promise<Result> {
  const rows = rowsOf(JSON.parse(await readFile(path, 'utf8')) as JestReport, stores);
  return { rows, missing: missingRows(rows, stores), exitCode };
}

function isGood({ rows, missing, exitCode }: Result): boolean {
  return exitCode === 0 && missing.length === 0 && !rows.some(hasFailed);
}

function print(all: Result[]): void {
  const rows = all.flatMap((result) => result.rows);
  console.log(tableOf(rows.filter((row) => !isLeftOut(row))));
  for (const { store, server, callers } of rows.filter(isLeftOut)) {
    console.log(`left out: ${store}, ${callers} callers: ${server}`);
  }
  for (const { store, server, callers, notPassed } of rows.filter(hasFailed)) {
    for (const name of notPassed)
      console.error(`not passed: ${store}, ${server}, ${callers} callers: ${name}`);
  }
  for (const row of all.flatMap(({ missing }) => missing)) console.error(`missing: ${row}`);
}
