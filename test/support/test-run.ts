import { Client } from 'pg';

/** Environment variables through which the test files, in other processes, learn of the server. */
export const SERVER_URL = 'EXACTLY_ONCE_TEST_SERVER';
export const RUN_ID = 'EXACTLY_ONCE_TEST_RUN';

const PREFIX = 'exactly_once_test_';

/** What every database of one test run is named after. */
export function databasePrefix(run: string): string {
  return `${PREFIX}${run}_`;
}

/**
 * Marks a test run as alive by a lock that the server frees by itself when this process ends. Databases of
 * runs whose lock is free were left by a crash, on a server that outlives its runs, and are dropped.
 */
export async function openTestRun(serverUrl: string, run: string): Promise<{ close(): Promise<void> }> {
  const client = new Client({ connectionString: serverUrl, application_name: 'exactly-once tests' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [databasePrefix(run)]);
  await dropAbandonedDatabases(client);
  return {
    async close() {
      for (const name of await databasesLike(client, `${databasePrefix(run)}%`)) await drop(client, name);
      await client.end();
    },
  };
}

async function dropAbandonedDatabases(client: Client): Promise<void> {
  for (const name of await databasesLike(client, `${PREFIX}%`)) {
    const prefix = /^exactly_once_test_[0-9a-f]+_/.exec(name)?.[0];
    if (!prefix) continue;
    const { rows } = await client.query('SELECT pg_try_advisory_lock(hashtext($1)) AS abandoned', [prefix]);
    if (!rows[0].abandoned) continue;
    await drop(client, name);
    await client.query('SELECT pg_advisory_unlock(hashtext($1))', [prefix]);
  }
}

async function databasesLike(client: Client, pattern: string): Promise<string[]> {
  const { rows } = await client.query('SELECT datname FROM pg_database WHERE datname LIKE $1', [pattern]);
  return rows.map((row) => row.datname);
}

async function drop(client: Client, name: string): Promise<void> {
  await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
}
