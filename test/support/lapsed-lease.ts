import type { IdempotentApp } from './idempotent-app.js';

const past = (): string => `now() - interval '1 second'`;

/** Ends the lease of a key at once, as if the process that holds it had been dead for that long. */
export async function lapseLease({ records }: Pick<IdempotentApp, 'records'>, key: string): Promise<void> {
  const { affected } = await records.update({ key }, { lockExpiresAt: past });
  if (affected !== 1) throw new Error('There is no record with this key.');
}

/** Ends the retention of a key at once. */
export async function endRetention({ records }: Pick<IdempotentApp, 'records'>, key: string): Promise<void> {
  await records.update({ key }, { expiresAt: past, purgeAt: past });
}

/** What the record of a key says about its steps, by name. */
export async function recordedSteps(
  { records }: Pick<IdempotentApp, 'records'>,
  key: string,
): Promise<Record<string, { result?: unknown }> | null> {
  const { steps } = await records.findOneByOrFail({ key });
  return steps === null ? null : JSON.parse(steps);
}
