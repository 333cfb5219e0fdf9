import type { Table } from './tables.js';

/** With columns one below the other. */
export function printTable({ title, head, rows }: Table): void {
  const widths = head.map((cell, column) =>
    Math.max(...[cell, ...rows.map((row) => row[column]!)].map(({ length }) => length)),
  );
  console.log(`\n${title}`);
  for (const row of [head, ...rows]) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
  }
}
