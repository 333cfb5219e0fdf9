/**
 * The numbered cases that have to hold over HTTP, on every adapter: A what everybody must test, B what the draft of the
 * `Idempotency-Key` header asks for, C faults seen in other libraries. What each is says the title of its tests.
 */
export const REQUIRED_ROWS: readonly string[] = [
  ...range('A', 1, 7),
  ...range('B', 1, 10),
  ...range('C', 1, 42),
];

function range(table: string, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${table}${first + index}`);
}
