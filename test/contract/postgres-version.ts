import { withClient } from '../support/database-client.js';
import { SERVER_URL } from '../support/test-run.js';

/** Of the server of this test run, as it tells. */
export async function postgresVersion(): Promise<string> {
  const { rows } = await withClient(process.env[SERVER_URL]!, (client) =>
    client.query("SELECT split_part(current_setting('server_version'), ' ', 1) AS version"),
  );
  return `Postgres ${rows[0].version}`;
}
