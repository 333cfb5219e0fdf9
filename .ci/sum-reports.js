import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// A suite that cannot even be loaded, or a run that leaves no report, is a failure too.
const [folder] = process.argv.slice(2);
const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const passed = reports.reduce((sum, report) => sum + report.numPassedTests, 0);
const failed = reports.reduce(
  (sum, report) => sum + report.numFailedTests + report.numRuntimeErrorTestSuites,
  0,
);

console.log(`${passed} passed, ${reports.length === 0 ? 1 : failed} failed`);
process.exitCode = reports.length > 0 && failed === 0 ? 0 : 1;
