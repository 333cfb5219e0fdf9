import { type Contestant, RECORDS } from '../rig/contestant.js';

/** Rows that one statement writes. */
const BATCH = 250_000;

/** Columns that cannot be those of the record that is multiplied; `n` is the number of the copy. */
const OF_A_COPY: Record<string, string> = {
  id: `sha256(convert_to('copy ' || n, 'UTF8'))`,
  key: `'copy-' || n`,
  purge_at: `purge_at + n * interval '10 milliseconds'`,
};

/** What makes a copy expired. */
const EXPIRED: Record<string, string> = {
  expires_at: `now() - interval '1 hour'`,
  purge_at: `now() - interval '1 hour' - n * interval '10 milliseconds'`,
};

/** Copies the one record that there is, as the library has written it. */
export async function multiplyRecords(
  { database }: Contestant,
  copies: number,
  { areExpired = false } = {},
): Promise<void> {
  const { client } = database!;
  const columns = await database!.columnsOf(RECORDS);
  const changed: Record<string, string> = { ...OF_A_COPY, ...(areExpired && EXPIRED) };
  const values = columns.map((column) => changed[column] ?? column);
  await client.query(`CREATE TEMPORARY TABLE model AS SELECT * FROM ${RECORDS}`);
  for (let first = 1; first <= copies; first += BATCH) {
    const last = Math.min(first + BATCH - 1, copies);
    await client.query(
      `INSERT INTO ${RECORDS} (${columns.join()}) SELECT ${values.join()} FROM model, generate_series(${first}, ${last}) n`,
    );
  }
  await client.query('DROP TABLE model');
  await client.query(`VACUUM (ANALYZE) ${RECORDS}`);
}

/** Those of the copies that are left. */
export async function countExpired({ database }: Contestant): Promise<number> {
  const { rows } = await database!.client.query<{ rows: number }>(
    `SELECT count(*)::float8 AS rows FROM ${RECORDS} WHERE expires_at <= now()`,
  );
  return rows[0]!.rows;
}
