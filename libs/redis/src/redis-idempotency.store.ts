import {
  Deadline,
  type ExistingRecord,
  IdempotencyRecordUnreadableError,
  type IdempotencyStore,
  type LeaseClaim,
  type LeaseClaimResult,
  type LeaseHold,
  type RecordedResponse,
  type RecordInspection,
  withTimeLimit,
} from '@exactly-once/nestjs';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { type Claimed, RedisBatches, type Shown } from './redis-batches.js';
import { RedisConnections } from './redis-connections.js';
import type { ScriptName } from './scripts.js';
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

/**
 * Records of `lease` mode in Redis (6.2 or later): each operation is one Lua script on one key, by the clock of
 * Redis, which also lets records expire. What is given up against Postgres is in docs/redis.md.
 *
 * @example
 * IdempotencyModule.forRoot({ scope: (req) => req.user.id, store: new RedisIdempotencyStore(process.env.REDIS_URL) })
 * @publicApi
 */
export class RedisIdempotencyStore implements IdempotencyStore {
  readonly keepsTimeLimits = true;
  private readonly connections: RedisConnections;
  private readonly batches: RedisBatches;

  /** @throws IdempotencyConfigurationError for what is no connection, or an option that does not exist */
  constructor(connection: RedisConnection | undefined, options: RedisStoreOptions = {}) {
    this.connections = new RedisConnections(connection, options);
    this.batches = new RedisBatches(this.connections);
  }

  claim(claim: LeaseClaim): Promise<LeaseClaimResult> {
    return this.batches.claims.add(claim, new Deadline(claim.timeLimit)).then(claimResult);
  }

  complete(hold: LeaseHold, response: RecordedResponse, ttl: number): Promise<boolean> {
    return this.batches.completions.add({ hold, response, ttl }, new Deadline(hold.timeLimit));
  }

  renew(hold: LeaseHold, lockTtl: number): Promise<boolean> {
    return this.batches.renewals.add({ hold, lockTtl }, new Deadline(hold.timeLimit));
  }

  async release({ id, owner, timeLimit }: LeaseHold): Promise<boolean> {
    return (await this.runOne('release', timeLimit, id, owner)) === 1;
  }

  async recordSteps({ id, owner, timeLimit }: LeaseHold, steps: string): Promise<boolean> {
    return (await this.runOne('recordSteps', timeLimit, id, owner, steps)) === 1;
  }

  async find(id: Buffer, timeLimit: number): Promise<ExistingRecord | undefined> {
    const reply = await this.runOne<Shown | null>('find', timeLimit, id);
    return reply ? existing(reply) : undefined;
  }

  async inspect(id: Buffer, timeLimit: number): Promise<RecordInspection | undefined> {
    const reply = await this.runOne<(Buffer | null)[] | null>('inspect', timeLimit, id);
    if (!reply) {
      return undefined;
    }
    const texts = reply.map((value) => value?.toString() ?? null);
    const [state, scope, operation, key, attempt, owner, created, lock, completed, expires, status, steps] =
      texts;
    return {
      state: state as RecordInspection['state'],
      scope: scope === '' ? null : scope!,
      operation: operation!,
      key: key!,
      attempt: Number(attempt),
      owner: owner!,
      createdAt: new Date(Number(created)),
      lockExpiresAt: new Date(Number(lock)),
      completedAt: completed === null ? null : new Date(Number(completed)),
      expiresAt: new Date(Number(expires)),
      status: status ? Number(status) : null,
      steps: steps!,
    };
  }

  async releaseAbandoned(id: Buffer, timeLimit: number): Promise<boolean> {
    return (await this.runOne('releaseAbandoned', timeLimit, id)) === 1;
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

  private async runOne<Reply>(
    script: ScriptName,
    timeLimit: number,
    ...record: [id: Buffer, ...values: string[]]
  ): Promise<Reply> {
    const running = this.connections.run<Reply>(script, [record], timeLimit);
    const [reply] = await withTimeLimit('Asking Redis', timeLimit, running);
    return reply!;
  }
}

function claimResult(reply: 1 | Claimed | Shown): LeaseClaimResult {
  if (reply === 1) {
    return CLAIMED_FIRST;
  }
  return isClaimed(reply)
    ? { type: 'claimed', attempt: reply[1], steps: reply[2]?.toString() ?? null }
    : existing(reply);
}

function isClaimed(reply: Claimed | Shown): reply is Claimed {
  return reply[0].toString() === 'claimed';
}

function existing([state, fingerprint, owner, status, headers, body]: Shown): ExistingRecord {
  const type = state.toString() as ExistingRecord['type'];
  const found = { fingerprint: Buffer.from(fingerprint.toString(), 'base64url'), owner: owner.toString() };
  return type === 'completed'
    ? { type, ...found, response: readResponse(status!, headers!, body!) }
    : { type, ...found };
}

/** @throws IdempotencyRecordUnreadableError rather than let a damaged record be executed again */
function readResponse(status: Buffer | null, headers: Buffer | null, body: Buffer | null): RecordedResponse {
  if (status?.byteLength === 0) {
    return 'unavailable';
  }
  try {
    const parsed: unknown = JSON.parse(headers!.toString());
    const code = Number(status);
    if (typeof parsed === 'object' && parsed !== null && body && code >= 100 && code <= 999) {
      return { status: code, headers: parsed as Record<string, string | string[]>, body };
    }
  } catch (cause) {
    throw new IdempotencyRecordUnreadableError(cause);
  }
  throw new IdempotencyRecordUnreadableError();
}
