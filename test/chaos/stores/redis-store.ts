import type { Redis } from 'ioredis';

import type { ChaosProxy } from '../proxy/chaos-proxy.js';
import { RedisProtocol } from '../proxy/redis-protocol.js';
import type { ChaosRedis } from '../redis.js';
import type { RecordFact, RecordStore } from './record-store.js';

const RECORD_KEYS = 'idempotency:*';
const KEYS_AT_ONCE = 1_000;

/** All but what is large. */
const FIELDS = [
  'key',
  'operation',
  'attempt',
  'owner',
  'createdAt',
  'lockExpiresAt',
  'completedAt',
  'status',
] as const;

type Fields = Record<(typeof FIELDS)[number], string | null>;

/** Records in Redis; the business data stay in Postgres, to which nothing is done. */
export class RedisStore implements RecordStore {
  constructor(
    readonly server: ChaosRedis,
    private readonly databaseUrl: string,
  ) {}

  protocol(): RedisProtocol {
    return new RedisProtocol();
  }

  environment(proxy: ChaosProxy): NodeJS.ProcessEnv {
    return {
      DATABASE_URL: this.databaseUrl,
      IDEMPOTENCY_STORE: 'redis',
      REDIS_URL: proxy.url(this.server.url),
    };
  }

  records(): Promise<RecordFact[]> {
    return this.server.ask(async (client) => {
      const found = await readAll(client);
      const [seconds] = await client.time();
      return found.map((fields) => factOf(fields, seconds * 1_000));
    });
  }

  async countLiveLeases(): Promise<number> {
    const records = await this.records();
    return records.filter(({ state }) => state === 'in progress').length;
  }
}

async function readAll(client: Redis): Promise<Fields[]> {
  // A scan may come by the same key twice.
  const keys = new Set<string>();
  for await (const page of client.scanStream({ match: RECORD_KEYS, count: KEYS_AT_ONCE })) {
    for (const key of page as string[]) keys.add(key);
  }
  const pipeline = client.pipeline();
  for (const key of keys) pipeline.hmget(key, ...FIELDS);
  const replies = await pipeline.exec();
  const found = replies!.map(([error, values]) => {
    if (error) throw error;
    return Object.fromEntries(FIELDS.map((name, index) => [name, (values as string[])[index]])) as Fields;
  });
  // One may have expired, or have been released, since the scan.
  return found.filter(({ owner }) => owner !== null);
}

/** @param now by the clock of Redis */
function factOf(fields: Fields, now: number): RecordFact {
  const { key, operation, attempt, owner, createdAt, lockExpiresAt, completedAt, status } = fields;
  const isLive = Number(lockExpiresAt) > now;
  return {
    key: key!,
    operation: operation!,
    attempt: Number(attempt),
    state: completedAt !== null ? 'completed' : isLive ? 'in progress' : 'abandoned',
    row: {
      owner,
      created: dateOf(createdAt),
      'lock expires': dateOf(lockExpiresAt),
      completed: dateOf(completedAt),
      status,
    },
  };
}

function dateOf(milliseconds: string | null): Date | null {
  return milliseconds === null ? null : new Date(Number(milliseconds));
}
