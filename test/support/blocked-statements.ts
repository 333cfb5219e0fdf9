import { expect } from '@jest/globals';
import type { Client } from 'pg';

import { eventually } from './eventually.js';

/** Waits until a statement of somebody else in this database waits for a lock. */
export function someoneWaitsForLock(client: Client): Promise<void> {
  return eventually(async () => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    expect(rowCount).toBeGreaterThan(0);
  });
}
