import { realpathSync } from 'node:fs';

import { Client } from 'pg';

import type { Cluster } from './cluster.js';

/** SQLSTATE class 57: starting up, shutting down. Too many connections: there, but full. */
const BUSY = /^(57P0|53300)/;

export function databaseUrl(cluster: Cluster, port: number, database: string): string {
  return `postgres://postgres:${cluster.password}@127.0.0.1:${port}/${database}`;
}

export async function connect(cluster: Cluster, port: number): Promise<Client> {
  const client = new Client({
    connectionString: databaseUrl(cluster, port, 'postgres'),
    connectionTimeoutMillis: 5_000,
    application_name: 'exactly-once launcher',
  });
  // Without a listener a lost connection would end the process; 'end' tells the same to those who care.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Who listens on this port: the server of this data folder, nobody, or somebody else? */
export async function answersFor(
  cluster: Cluster,
  port: number,
): Promise<'ours' | 'busy' | 'nobody' | 'foreign'> {
  let client: Client | undefined;
  try {
    client = await connect(cluster, port);
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    // The password alone would be wrong for a copy of the whole project folder.
    return realpathSync(rows[0]!.data_directory) === realpathSync(cluster.data) ? 'ours' : 'foreign';
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ECONNREFUSED') return 'nobody';
    // An error without a code is the time-out of the connection.
    return code === undefined || BUSY.test(code) ? 'busy' : 'foreign';
  } finally {
    await client?.end();
  }
}
