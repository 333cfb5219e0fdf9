import { IdempotencyConfigurationError, StoreUnreachableError, withTimeLimit } from '@exactly-once/nestjs';
import { Redis, type Cluster, type RedisOptions } from 'ioredis';
import type { RedisConnection, RedisStoreOptions } from './redis-idempotency.store.js';
import { isRefusal } from './redis-errors.js';
import { type ScriptName, SCRIPTS } from './scripts.js';

/** Milliseconds that a start waits for Redis. */
const START_TIME_LIMIT = 10_000;

/** Milliseconds without an answer after which a connection counts as lost: a network that drops packets closes nothing. */
const SOCKET_TIME_LIMIT = 5_000;

const DEFAULT_PREFIX = 'idempotency:';

export type Argument = string | number | Buffer;

/** What a script needs to know of one record. */
export type RecordArguments = [id: Buffer, ...values: Argument[]];

/** ioredis makes one method of each script; its second form gives replies as they are, since bodies are bytes. */
type Scripted = Record<`${ScriptName}Buffer`, (...values: Argument[]) => Promise<unknown>>;

/**
 * What the store needs of its connections, whatever the client they are made like is used for. What was sent on a connection
 * that is lost fails at once (`maxRetriesPerRequest`) and is not sent again by itself, and nothing waits in a queue: an
 * operation that was given up should not be carried out later.
 */
const CONNECTION_OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  socketTimeout: SOCKET_TIME_LIMIT,
  retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 10), 1_000),
  // What was a master may be a replica now: the name is to be resolved anew.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

/** The store's own client of a Redis server, of what Sentinel watches, or of a cluster. */
export class RedisConnections {
  private readonly client: Redis | Cluster;
  private readonly scripts: Scripted;
  private readonly prefix: string;
  private readiness: Promise<void> | undefined;
  private lastError: unknown;

  constructor(connection: RedisConnection | undefined, options: RedisStoreOptions) {
    this.prefix = prefixOf(options);
    this.client = clientLike(connection);
    this.client.on('error', (error) => {
      this.lastError = error;
    });
    this.client.on('close', () => stopSocketTimer(this.client));
    for (const [name, lua] of Object.entries(SCRIPTS)) {
      this.client.defineCommand(name, { lua });
    }
    this.scripts = this.client as unknown as Scripted;
  }

  /** Whether records are on several servers, so that they cannot share a script. */
  get isCluster(): boolean {
    return isCluster(this.client);
  }

  /**
   * Runs a script on these records.
   *
   * @param records id and arguments of each, of the same number
   * @param timeLimit milliseconds that it waits for a connection; an answer is waited for by the caller
   * @returns the replies, one for each
   * @throws StoreUnreachableError where nothing has happened; another error where it is not known what became of it
   */
  run<Reply>(script: ScriptName, records: readonly RecordArguments[], timeLimit: number): Promise<Reply[]> {
    return this.client.status === 'ready'
      ? this.send(script, records)
      : this.untilReady(timeLimit).then(() => this.send(script, records));
  }

  private send<Reply>(script: ScriptName, records: readonly RecordArguments[]): Promise<Reply[]> {
    const values: Argument[] = [records.length];
    for (const [id] of records) {
      values.push(this.prefix + id.toString('base64url'));
    }
    for (const [, ...argumentsOfOne] of records) {
      values.push(...argumentsOfOne);
    }
    const replies = this.scripts[`${script}Buffer`](...values) as Promise<Reply[]>;
    return replies.catch((error: unknown) => {
      throw this.isRefusal(error)
        ? new StoreUnreachableError(error, 'Redis has refused the operation.')
        : error;
    });
  }

  /**
   * A refused script has written nothing: Redis judges its memory and its role before the first write. In a cluster a script
   * may be sent a second time, and only that be refused.
   */
  private isRefusal(error: unknown): boolean {
    return !this.isCluster && isRefusal(error);
  }

  /** @throws IdempotencyConfigurationError */
  async open(): Promise<void> {
    try {
      await this.untilReady(START_TIME_LIMIT);
    } catch (cause) {
      this.client.disconnect();
      throw new IdempotencyConfigurationError(
        `Redis, which is to keep the idempotency records, cannot be reached: ${String(this.lastError ?? cause)} Check the ` +
          `address and the password that RedisIdempotencyStore was given, and that the server runs.`,
        { cause: this.lastError ?? cause },
      );
    }
  }

  async close(): Promise<void> {
    if (this.client.status === 'ready') {
      await this.client.quit().catch(() => undefined);
    }
    this.client.disconnect();
  }

  /** The servers that records are written to. */
  masters(): Redis[] {
    return isCluster(this.client) ? this.client.nodes('master') : [this.client];
  }

  /** @throws StoreUnreachableError */
  private async untilReady(timeLimit: number): Promise<void> {
    try {
      await withTimeLimit('Connecting to Redis', timeLimit, this.ready());
    } catch (error) {
      throw new StoreUnreachableError(this.lastError ?? error);
    }
  }

  /** All that wait share one listener. */
  private ready(): Promise<void> {
    if (this.client.status === 'wait') {
      this.client.connect().catch(() => undefined);
    }
    this.readiness ??= new Promise((resolve) => {
      this.client.once('ready', () => {
        this.readiness = undefined;
        this.lastError = undefined;
        resolve();
      });
    });
    return this.client.status === 'ready' ? Promise.resolve() : this.readiness;
  }
}

/** @throws IdempotencyConfigurationError for what is no connection, as of a variable that is not set */
function clientLike(connection: RedisConnection | undefined): Redis | Cluster {
  if (typeof connection === 'string' && /^rediss?:\/\/./.test(connection)) {
    return new Redis(connection, CONNECTION_OPTIONS);
  }
  if (typeof connection !== 'object' || connection === null) {
    throw new IdempotencyConfigurationError(
      `RedisIdempotencyStore was given ${JSON.stringify(connection)} in the place of a connection. Use a URL such as ` +
        `'redis://localhost:6379' (is its variable set?), options of ioredis, or a client or a cluster of ioredis.`,
    );
  }
  if (!('duplicate' in connection)) {
    return new Redis({ ...connection, ...CONNECTION_OPTIONS });
  }
  if (!isCluster(connection)) {
    return connection.duplicate(CONNECTION_OPTIONS);
  }
  const { retryStrategy: _, ...redisOptions } = CONNECTION_OPTIONS;
  return connection.duplicate([], {
    lazyConnect: true,
    enableOfflineQueue: false,
    scaleReads: 'master',
    redisOptions: { ...connection.options.redisOptions, ...redisOptions },
  });
}

/** ioredis 5 leaves the timer of what was not answered on a lost connection, and closes the next one when it is over. */
function stopSocketTimer(client: object): void {
  const timed: { socketTimeoutTimer?: NodeJS.Timeout } = client;
  clearTimeout(timed.socketTimeoutTimer);
  timed.socketTimeoutTimer = undefined;
}

function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster;
}

function prefixOf(options: RedisStoreOptions): string {
  const unknown = Object.keys(options).find((name) => name !== 'keyPrefix');
  if (unknown !== undefined) {
    throw new IdempotencyConfigurationError(
      `The option \`${unknown}\` of RedisIdempotencyStore does not exist. It has this one: keyPrefix. What concerns the ` +
        `connection belongs into its first parameter.`,
    );
  }
  const { keyPrefix = DEFAULT_PREFIX } = options;
  if (typeof keyPrefix !== 'string' || keyPrefix === '') {
    throw new IdempotencyConfigurationError(
      `The option \`keyPrefix\` of RedisIdempotencyStore is ${JSON.stringify(keyPrefix)}. Use a text such as '${DEFAULT_PREFIX}'.`,
    );
  }
  return keyPrefix;
}
