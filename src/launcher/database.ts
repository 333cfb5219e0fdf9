import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from 'pg';

import { EmbeddedPostgres } from '../embedded-postgres/index.js';
import { StartError } from './start-error.js';

/** The folder above `dist/`, into which this file is built. */
export const PROJECT_FOLDER = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const CONNECT_TIMEOUT_MS = 5_000;

export interface Database {
  url: string;
  /** For the user: what it is, and where its data are. */
  description: string;
  close(): Promise<void>;
}

/** The database of `DATABASE_URL`, or the embedded one. `onLost` is told when that one is gone for good. */
export async function openDatabase(
  given: string | undefined,
  onLost: (cause: unknown) => void,
): Promise<Database> {
  if (given) {
    await probe(given);
    return { url: given, description: 'the one of DATABASE_URL', close: async () => undefined };
  }
  const server = await EmbeddedPostgres.start({ projectFolder: PROJECT_FOLDER, onLost });
  const url = await server.ensureDatabase('orders');
  const description = `${url} (embedded, data in ${server.cluster.folder})`;
  return { url, description, close: () => server.stop() };
}

/** The app would try again for half a minute before it says anything. */
async function probe(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A connection that breaks after the probe is not its business.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    await client.end();
  } catch (cause) {
    // A name with several addresses fails with one error for each, and no message of its own.
    const [first] = cause instanceof AggregateError ? cause.errors : [cause];
    throw new StartError(`The database of DATABASE_URL cannot be used: ${first.message}.`, { cause });
  }
}
