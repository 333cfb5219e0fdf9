import { readFile } from 'node:fs/promises';

import { runJest } from '../support/run-jest.js';
import { caseTestsOf, type JestReport } from './jest-report.js';
import { REQUIRED_ROWS } from './required-rows.js';
import { judge } from './verdicts.js';

const ADAPTERS = ['express', 'fastify'];
const REPORT = '.reports/cases.json';

// Another run's report can be given, e.g. the one of `npm test -- --json --outputFile=…`.
const [given] = process.argv.slice(2);
if (!given) await runJest(['test/http', '--json', `--outputFile=${REPORT}`], REPORT);

const report = JSON.parse(await readFile(given ?? REPORT, 'utf8')) as JestReport;
const verdicts = judge(REQUIRED_ROWS, ADAPTERS, caseTestsOf(report, ADAPTERS));
for (const { row, adapter, passed } of verdicts) {
  console.log(`${row} ${adapter} ${passed ? 'passed' : 'failed'}`);
}
for (const { row, adapter } of verdicts.filter(({ tests }) => tests === 0)) {
  console.error(`${row} has no test on ${adapter}.`);
}
process.exitCode = verdicts.every(({ passed }) => passed) ? 0 : 1;
