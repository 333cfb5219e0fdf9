import type { StoreContractCase } from '@exactly-once/nestjs/testing';

/** The names of the cases that a store fails, run one after the other. */
export async function failuresOf(cases: StoreContractCase[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of cases) {
    await run().catch(() => failed.push(name));
  }
  return failed;
}
