import {
  type ExistingRecord,
  IdempotencyRecordUnreadableError,
  type IdempotencyStore,
  type LeaseClaim,
  type LeaseClaimResult,
  type LeaseHold,
  type RecordedResponse,
  type RecordInspection,
} from '@exactly-once/nestjs';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { RedisConnections } from './redis-connections.js';
import { checkServers } from './start-up-check.js';

/**
 * Where Redis is: its URL, options of ioredis (Sentinel among them), or a client or cluster of ioredis, whose options are
 * taken over. The store has a connection of its own in any case.
 *
 * @publicApi
 */
export type RedisConnection = string | RedisOptions | Redis | Cluster;

/** @publicApi */
export interface RedisStoreOptions {
  /** What the key of each record begins with. @default 'idempotency:' */
  keyPrefix?: string;
}

const CLAIMED_FIRST: LeaseClaimResult = { type: 'claimed', attempt: 1, steps: null };

/** A record in progress or completed, as the scripts give it: state, fingerprint, owner, status, headers, body. */
type Shown = [state: Buffer, fingerprint: Buffer, owner: Buffer, ...response: (Buffer | null)[]];

type Claimed = [state: Buffer, attempt: number, steps: Buffer | null];

/**
 * Records of `lease` mode in Redis (6.2 or later) or Valkey: each operation is one Lua script on one key, by the clock of
 * Redis, which also lets records expire. What is given up against Postgres is in docs/redis.md.
 *
 * @example
 * IdempotencyModule.forRoot({ scope: (req) => req.user.id, store: new RedisIdempotencyStore(process.env.REDIS_URL) })
 * @publicApi
 */
export class RedisIdempotencyStore implements IdempotencyStore {
  private readonly connections: RedisConnections;

  /** @throws IdempotencyConfigurationError for what is no connection, or an option that does not exist */
  constructor(connection: RedisConnection, options: RedisStoreOptions = {}) {
    this.connections = new RedisConnections(connection, options);
  }

  async claim(claim: LeaseClaim): Promise<LeaseClaimResult> {
    const { id, owner, fingerprint, lockTtl, ttl, takeOverAbandoned, operation, key, scope } = claim;
    const values = [owner, fingerprint, lockTtl, ttl, takeOverAbandoned ? 1 : 0, operation, key];
    const args = scope === null ? values : [...values, scope];
    const reply = await this.connections.run<1 | Claimed | Shown>('claim', id, args, claim.timeLimit);
    if (reply === 1) {
      return CLAIMED_FIRST;
    }
    return isClaimed(reply)
      ? { type: 'claimed', attempt: reply[1], steps: reply[2]?.toString() ?? null }
      : existing(reply);
  }

  complete(hold: LeaseHold, response: RecordedResponse, ttl: number): Promise<boolean> {
    const answer =
      response === 'unavailable' ? [] : [response.status, JSON.stringify(response.headers), response.body];
    return this.change('complete', hold, ttl, ...answer);
  }

  release(hold: LeaseHold): Promise<boolean> {
    return this.change('release', hold);
  }

  renew(hold: LeaseHold, lockTtl: number): Promise<boolean> {
    return this.change('renew', hold, lockTtl);
  }

  recordSteps(hold: LeaseHold, steps: string): Promise<boolean> {
    return this.change('recordSteps', hold, steps);
  }

  async find(id: Buffer, timeLimit: number): Promise<ExistingRecord | undefined> {
    const reply = await this.connections.run<Shown | null>('find', id, [], timeLimit);
    return reply ? existing(reply) : undefined;
  }

  async inspect(id: Buffer, timeLimit: number): Promise<RecordInspection | undefined> {
    const reply = await this.connections.run<(Buffer | null)[] | null>('inspect', id, [], timeLimit);
    if (!reply) {
      return undefined;
    }
    const texts = reply.map((value) => value?.toString() ?? null);
    const [state, scope, operation, key, attempt, owner, created, lock, completed, expires, status, steps] =
      texts;
    return {
      state: state as RecordInspection['state'],
      scope: scope!,
      operation: operation!,
      key: key!,
      attempt: Number(attempt),
      owner: owner!,
      createdAt: new Date(Number(created)),
      lockExpiresAt: new Date(Number(lock)),
      completedAt: completed === null ? null : new Date(Number(completed)),
      expiresAt: new Date(Number(expires)),
      status: status === null ? null : Number(status),
      steps: steps!,
    };
  }

  async releaseAbandoned(id: Buffer, timeLimit: number): Promise<boolean> {
    return (await this.connections.run('releaseAbandoned', id, [], timeLimit)) === 1;
  }

  /**
   * Connects, and warns where Redis is configured so that it may forget records.
   *
   * @throws IdempotencyConfigurationError when Redis cannot be reached, or refuses us
   */
  async open(): Promise<void> {
    await this.connections.open();
    await checkServers(this.connections.masters());
  }

  /** Closes its own connection, and no other. */
  async close(): Promise<void> {
    await this.connections.close();
  }

  private async change(
    script: 'complete' | 'release' | 'renew' | 'recordSteps',
    { id, owner, timeLimit }: LeaseHold,
    ...values: (string | number | Buffer)[]
  ): Promise<boolean> {
    return (await this.connections.run(script, id, [owner, ...values], timeLimit)) === 1;
  }
}

function isClaimed(reply: Claimed | Shown): reply is Claimed {
  return reply[0].toString() === 'claimed';
}

function existing([state, fingerprint, owner, status, headers, body]: Shown): ExistingRecord {
  const type = state.toString() as ExistingRecord['type'];
  const found = { fingerprint, owner: owner.toString() };
  return type === 'completed'
    ? { type, ...found, response: readResponse(status!, headers!, body!) }
    : { type, ...found };
}

/** @throws IdempotencyRecordUnreadableError rather than let a damaged record be executed again */
function readResponse(status: Buffer | null, headers: Buffer | null, body: Buffer | null): RecordedResponse {
  if (status === null) {
    return 'unavailable';
  }
  try {
    const parsed: unknown = JSON.parse(headers!.toString());
    if (typeof parsed === 'object' && parsed !== null && body) {
      return { status: Number(status), headers: parsed as Record<string, string | string[]>, body };
    }
  } catch (cause) {
    throw new IdempotencyRecordUnreadableError(cause);
  }
  throw new IdempotencyRecordUnreadableError();
}
