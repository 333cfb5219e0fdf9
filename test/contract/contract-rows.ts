import type { JestReport } from '../cases/jest-report.js';
import { CALLERS, NO_MARIADB, NO_REDIS } from './contract-stores.js';
import { type ContractPlace, placeOf } from './contract-titles.js';

/** What became of the contract for one store and number of callers. */
export interface ContractRow extends ContractPlace {
  cases: number;
  passed: number;
  /** Cases that have not passed, skipped ones among them. */
  notPassed: string[];
}

/** In the order of the stores, whatever order the files have run in. */
export function rowsOf(report: JestReport, stores: readonly string[]): ContractRow[] {
  const rows = new Map<string, ContractRow>();
  for (const { ancestorTitles, title, status } of report.testResults.flatMap(
    (file) => file.assertionResults,
  )) {
    const place = placeOf(ancestorTitles);
    if (!place) continue;
    const id = Object.values(place).join('\n');
    const row = rows.get(id) ?? { ...place, cases: 0, passed: 0, notPassed: [] };
    rows.set(id, row);
    row.cases += 1;
    if (status === 'passed') row.passed += 1;
    else row.notPassed.push(title);
  }
  const rank = ({ store, callers }: ContractRow) => stores.indexOf(store) * 1_000 + callers;
  return [...rows.values()].toSorted((one, other) => rank(one) - rank(other));
}

/** A store that a machine has no server for has not failed, and has not passed either. */
export function isLeftOut({ server }: ContractRow): boolean {
  return server === NO_REDIS || server === NO_MARIADB;
}

export function hasFailed(row: ContractRow): boolean {
  return row.notPassed.length > 0 && !isLeftOut(row);
}

/** Rows that must be there and are not, e.g. since a file could not be loaded. */
export function missingRows(rows: readonly ContractRow[], stores: readonly string[]): string[] {
  return stores.flatMap((store) =>
    CALLERS.filter((callers) => !rows.some((row) => row.store === store && row.callers === callers)).map(
      (callers) => `${store}, ${callers} callers`,
    ),
  );
}
