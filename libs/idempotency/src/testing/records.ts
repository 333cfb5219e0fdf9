import type { DataSource } from 'typeorm';
import { type Duration, parseDuration } from '../options/duration.js';
import { IdempotencyRecord } from '../typeorm/idempotency-record.entity.js';
import { recordTable } from '../typeorm/record-table.js';

/**
 * The record of a key; of several with this key (of other callers or operations) the newest.
 *
 * @param key in canonical form, without quotes
 * @publicApi
 */
export async function readRecord(
  dataSource: DataSource,
  key: string,
): Promise<IdempotencyRecord | undefined> {
  const [record] = await dataSource
    .getRepository(IdempotencyRecord)
    .find({ where: { key }, order: { createdAt: 'DESC' }, take: 1 });
  return record;
}

/**
 * Makes the records of a key look as if this time had passed: leases and retention run out without waiting for them.
 *
 * @param by milliseconds, or a text such as `'25h'`
 * @throws Error where there is no record of the key
 * @publicApi
 */
export async function moveRecordClock(dataSource: DataSource, key: string, by: Duration): Promise<void> {
  const { name, column: c } = recordTable(dataSource.getMetadata(IdempotencyRecord));
  const times = [c.createdAt, c.lockExpiresAt, c.completedAt, c.expiresAt, c.purgeAt];
  const earlier = times.map((time) => `${time} = ${time} - $2 * interval '1 millisecond'`).join(', ');
  const [, moved] = (await dataSource.query(`UPDATE ${name} SET ${earlier} WHERE ${c.key} = $1`, [
    key,
    parseDuration('by', by),
  ])) as [unknown, number];
  if (moved === 0) {
    throw new Error(`There is no record of the key ${JSON.stringify(key)} whose clock could be moved.`);
  }
}
