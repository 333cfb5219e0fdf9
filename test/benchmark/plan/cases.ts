/** What is measured. */
export const CASES = {
  S1: 'a handler that does nothing, new keys',
  S2: 'a handler with one `repository.save()`, new keys',
  S3: 'replay of completed keys (bare: its handler runs)',
  S4: 'many requests with one new key at the same moment, a handler of 200 ms',
  S5: 'S1 with few and with many records in the table',
  S6: 'S1 while the purge removes expired records',
} as const;

export type CaseName = keyof typeof CASES;

export const CASE_NAMES = Object.keys(CASES) as CaseName[];

export const THROUGHPUT_CASES = ['S1', 'S2', 'S3'] as const satisfies CaseName[];
export type ThroughputCase = (typeof THROUGHPUT_CASES)[number];
