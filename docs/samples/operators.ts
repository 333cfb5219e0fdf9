import type { IdempotencyService, RecordInspection } from '@exactly-once/nestjs';

/** @returns what was found */
export async function releaseRefund(idempotency: IdempotencyService): Promise<RecordInspection | undefined> {
  // #region release
  const target = { scope: 'alice', operation: 'POST /orders/:id/refund', key: 'first-refund' };
  const record = await idempotency.find(target);
  if (record?.state === 'abandoned') {
    // Somebody has looked, and no money has moved. Who it was goes to the log.
    await idempotency.release(target, 'carol@example.com');
  }
  // #endregion
  return record;
}
