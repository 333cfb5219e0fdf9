/** Rows of the case tables that have to hold over HTTP, on every adapter. */
export const REQUIRED_ROWS: readonly string[] = [
  ...range('A', 1, 7),
  ...range('B', 1, 10),
  ...range('C', 1, 28),
  'C34',
  'C35',
  ...range('C', 37, 42),
];

function range(table: string, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${table}${first + index}`);
}
