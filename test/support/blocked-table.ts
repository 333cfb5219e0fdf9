import { Client } from 'pg';

/**
 * Locks the table of records against everybody, as a migration that stands still does. The returned function
 * ends it.
 */
export async function blockRecordTable(databaseUrl: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE idempotency_records IN ACCESS EXCLUSIVE MODE');
  return () => client.end();
}
