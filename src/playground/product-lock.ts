import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

/** Milliseconds that a killed app is waited for, to get to the lock. */
const PATIENCE_MS = 10_000;

/** Of `pg_stat_activity`, a transaction would see the same again and again. */
const WAITING = 'SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))';

/** A lock on all products, for which every order has to wait in the middle of its transaction. */
export class ProductLock {
  private constructor(private readonly client: Client) {}

  static async take(databaseUrl: string): Promise<ProductLock> {
    const client = new Client({ connectionString: databaseUrl, application_name: 'playground' });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('BEGIN; SELECT 1 FROM product FOR UPDATE');
    return new ProductLock(client);
  }

  /** Returns when somebody waits for it, or nobody does for long. */
  async isWaitedFor(): Promise<boolean> {
    const end = performance.now() + PATIENCE_MS;
    while (performance.now() < end) {
      const { rowCount } = await this.client.query(WAITING);
      if (rowCount) return true;
      await sleep(20);
    }
    return false;
  }

  async release(): Promise<void> {
    await this.client.end();
  }
}
