import type { DataSource } from 'typeorm';

const TIMES = ['created_at', 'lock_expires_at', 'completed_at', 'expires_at', 'purge_at'];

/** Makes all records look as if this time had passed. */
export function moveClock(dataSource: DataSource, milliseconds: number): Promise<unknown> {
  const earlier = TIMES.map((time) => `${time} = ${time} - ?`).join(', ');
  return dataSource.query(
    `UPDATE idempotency_records SET ${earlier}`,
    TIMES.map(() => milliseconds),
  );
}
