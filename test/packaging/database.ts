import { withClient } from '../support/database-client.js';
import { databasePrefix, RUN_ID, SERVER_URL } from '../support/test-run.js';

/** Makes an empty database on the server of this test run, which drops it at its end. */
export async function createDatabase(purpose: string): Promise<string> {
  const name = `${databasePrefix(process.env[RUN_ID]!)}${purpose}`;
  const url = new URL(process.env[SERVER_URL]!);
  await withClient(url.href, (client) => client.query(`CREATE DATABASE "${name}"`));
  url.pathname = `/${name}`;
  return url.href;
}

export async function countRows(url: string, table: string): Promise<number> {
  const { rows } = await withClient(url, (client) => client.query(`SELECT count(*)::int FROM ${table}`));
  return rows[0].count;
}
