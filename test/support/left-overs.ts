import { expect } from '@jest/globals';
import type { Server } from 'node:http';
import { promisify } from 'node:util';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

import { activeResources, libraryTimers, resourcesBeyond } from './active-handles.js';
import { eventually } from './eventually.js';
import type { IdempotentApp, IdempotentAppOptions } from './idempotent-app.js';

/**
 * Without what an app that is at rest has: timers of the pool for each idle connection, and that of the purge. Time
 * limits are long, since a timer that was forgotten must not go away by itself while it is waited for. What renews
 * leases may take a sixth of `lockTtl` to notice that there are none.
 */
export const QUIET: Pick<IdempotentAppOptions, 'dataSource' | 'options'> = {
  dataSource: { extra: { idleTimeoutMillis: 0 } },
  options: { purge: false, storeTimeout: '60s', transactionTimeout: '60s', lockTtl: '6s' },
};

/**
 * @returns expects that soon nothing is left of what has happened since: in this process, where the app is alone, no
 * timer, socket or other handle, and no connection in use; in the database no transaction and no lock
 */
export function watchLeftOvers(app: IdempotentApp): () => Promise<void> {
  const before = resourcesOutsidePool(app);
  return () =>
    eventually(async () => {
      const { totalCount, idleCount, waitingCount } = poolOf(app);
      expect({
        timers: libraryTimers(),
        resources: resourcesBeyond(before, resourcesOutsidePool(app)),
        clients: await connectedClients(app),
        pool: { inUse: totalCount - idleCount, waiting: waitingCount },
        ...(await inDatabase(app.dataSource)),
      }).toEqual({
        timers: [],
        resources: [],
        clients: 0,
        pool: { inUse: 0, waiting: 0 },
        transactions: [],
        locks: [],
      });
    });
}

/** The pool keeps connections that are idle, and may have more of them than before. */
function resourcesOutsidePool(app: IdempotentApp): string[] {
  const ofPool = Array.from({ length: poolOf(app).idleCount }, () => 'TCPSocketWrap');
  return resourcesBeyond(ofPool, activeResources());
}

function poolOf({ dataSource }: IdempotentApp): Pool {
  return (dataSource.driver as PostgresDriver).master;
}

/** How many connections to the app are open, as it sees it. */
export function connectedClients({ app }: IdempotentApp): Promise<number> {
  return promisify((done: (error: Error | null, count: number) => void) =>
    (app.getHttpServer() as Server).getConnections(done),
  )();
}

async function inDatabase(dataSource: DataSource) {
  const transactions: unknown[] = await dataSource.query(
    `SELECT state, query FROM pg_stat_activity
      WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`,
  );
  const locks: unknown[] = await dataSource.query(
    `SELECT locktype, mode, granted FROM pg_locks
      WHERE pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return { transactions, locks };
}
