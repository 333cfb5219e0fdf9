import { type DurablePostgres, withClient } from '../postgres.js';
import type { ChaosProxy } from '../proxy/chaos-proxy.js';
import { PostgresProtocol } from '../proxy/postgres-protocol.js';
import type { RecordFact, RecordStore } from './record-store.js';

const RECORDS = `
  SELECT key, operation, attempt,
    CASE WHEN completed_at IS NOT NULL THEN 'completed'
      WHEN lock_expires_at > clock_timestamp() THEN 'in progress' ELSE 'abandoned' END AS state,
    json_build_object('owner', owner, 'created', created_at, 'lock expires', lock_expires_at,
      'completed', completed_at, 'status', status) AS row
  FROM idempotency_records`;

const LIVE_LEASES = `
  SELECT count(*)::int AS count FROM idempotency_records
  WHERE completed_at IS NULL AND lock_expires_at > clock_timestamp()`;

/** Records in a table beside the business data, which have all of the faults, too. */
export class PostgresStore implements RecordStore {
  constructor(
    readonly server: DurablePostgres,
    private readonly databaseUrl: string,
  ) {}

  protocol(): PostgresProtocol {
    return new PostgresProtocol();
  }

  environment(proxy: ChaosProxy): NodeJS.ProcessEnv {
    return { DATABASE_URL: proxy.url(this.databaseUrl) };
  }

  records(): Promise<RecordFact[]> {
    return this.ask<RecordFact>(RECORDS);
  }

  async countLiveLeases(): Promise<number> {
    const [row] = await this.ask<{ count: number }>(LIVE_LEASES);
    return row!.count;
  }

  private ask<T extends object>(sql: string): Promise<T[]> {
    return withClient(this.databaseUrl, async (client) => (await client.query<T>(sql)).rows);
  }
}
