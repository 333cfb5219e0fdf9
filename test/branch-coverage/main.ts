import { readFileSync } from 'node:fs';

import { runJest } from '../support/run-jest.js';
import { branchesOf, type CoverageReport } from './branches.js';
import { obsoleteReasons, reasonFor, type Reasons } from './reasons.js';
import { percentOf, sharesBy, type Share } from './shares.js';
import { hasTypesOnly } from './types-only.js';

const SOURCES = 'libs/idempotency/src';
const REPORT = 'coverage/coverage-final.json';
const REASONS = 'test/coverage-reasons.json';
/** Where a branch that no request has ever taken may hide a second effect. */
const FOLDERS = ['engine', 'http', 'typeorm'];
const LEAST_PERCENT = 95;

const JEST_ARGUMENTS = [
  'test/http',
  '--coverage',
  '--coverageProvider=v8',
  '--coverageReporters=json',
  '--coverageDirectory=coverage',
  `--collectCoverageFrom=${SOURCES}/**/*.ts`,
  '--collectCoverageFrom=!**/*.spec.ts',
];

// The report of the run before can be given, e.g. while reasons are being written.
const [given] = process.argv.slice(2);
const exitCode = given ? 0 : await runJest(JEST_ARGUMENTS, REPORT);

const readText = (path: string) => readFileSync(path, 'utf8');
const report: CoverageReport = JSON.parse(readText(given ?? REPORT));
const reasons: Reasons = JSON.parse(readText(REASONS));
const withCode = Object.fromEntries(Object.entries(report).filter(([path]) => !hasTypesOnly(path)));
const branches = branchesOf(withCode, process.cwd(), readText);

const folderOf = ({ file }: { file: string }) =>
  FOLDERS.find((name) => file.startsWith(`${SOURCES}/${name}/`));
const folders = sharesBy(branches, folderOf);
const unreached = branches.filter(({ reached }) => !reached);
const unexplained = unreached.filter((branch) => !reasonFor(branch, reasons));

console.log('Branches reached over HTTP, by file');
for (const share of sharesBy(branches, ({ file }) => file)) print(share);
console.log(`\nBy folder; at least ${LEAST_PERCENT} %`);
for (const share of folders) print(share);
console.log('\nNot reached');
// One line may have several branches, as in `a ?? b ?? c`; one reason is for all of them.
const listed = new Map(unreached.map((branch) => [`${branch.file}:${branch.line}`, branch]));
for (const [place, branch] of listed) {
  console.log(`${place}  ${branch.text}\n    ${reasonFor(branch, reasons) ?? 'NO REASON GIVEN'}`);
}
for (const entry of obsoleteReasons(branches, reasons)) console.log(`\nReason not needed any more: ${entry}`);
console.log(
  `\n${unreached.length} of ${branches.length} not reached, ${unexplained.length} of them without a reason`,
);

const enough =
  folders.length === FOLDERS.length && folders.every((share) => percentOf(share) >= LEAST_PERCENT);
process.exitCode = exitCode === 0 && enough && unexplained.length === 0 ? 0 : 1;

function print(share: Share): void {
  console.log(`${percentOf(share).toFixed(1).padStart(6)} %  ${share.reached}/${share.all}  ${share.name}`);
}
