import { expect } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';

import { withClient } from './database-client.js';
import type { IdempotentApp } from './idempotent-app.js';

/** Rollbacks that nobody waits for are still under way when a test ends. */
const PATIENCE = 2_000;

/** Closes the app, after making sure that it has left no transaction open and no lock behind. */
export async function closeClean(app: Pick<IdempotentApp, 'database' | 'close'>): Promise<void> {
  try {
    await withClient(app.database.url, async (client) => {
      const deadline = Date.now() + PATIENCE;
      while ((await leftOvers(client)).length > 0 && Date.now() < deadline) {
        await sleep(50);
      }
      expect(await leftOvers(client)).toEqual([]);
    });
  } finally {
    await app.close();
  }
}

async function leftOvers(client: Client): Promise<unknown[]> {
  const { rows } = await client.query(
    `SELECT state AS left_over, query FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'
     UNION ALL
     SELECT locktype, objid::text FROM pg_locks
      WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows;
}
