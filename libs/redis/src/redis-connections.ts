import { IdempotencyConfigurationError, StoreUnreachableError, withTimeLimit } from '@exactly-once/nestjs';
import { Redis, type Cluster, type RedisOptions } from 'ioredis';
import type { RedisConnection, RedisStoreOptions } from './redis-idempotency.store.js';
import { isBeforeWrite, isLoginRefused, reasonOf } from './redis-errors.js';
import { type ScriptName, SCRIPTS } from './scripts.js';

/** Milliseconds that a start waits for Redis. */
const START_TIME_LIMIT = 10_000;

/** Milliseconds without an answer after which a connection counts as lost: a network that drops packets closes nothing. */
const SOCKET_TIME_LIMIT = 5_000;

/** Milliseconds that a shutdown waits for the end of the connection. */
const CLOSE_TIME_LIMIT = 1_000;

/** Milliseconds. */
const TIME_TO_TELL = 50;

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
  // Replies are compared with numbers.
  stringNumbers: false,
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
  private wrongDatabase: Error | undefined;
  /** Applications that have opened it and not closed it: tests like to share a store. */
  private users = 0;
  private isClosed = false;

  constructor(connection: RedisConnection | undefined, options: RedisStoreOptions) {
    this.prefix = prefixOf(options);
    this.client = clientLike(connection);
    this.client.on('error', (error: Error & { command?: { name: string } }) => {
      this.lastError = reasonOf(error);
      if (error.command?.name === 'select') {
        // ioredis goes on in database 0, which may be another application's.
        this.wrongDatabase = error;
      }
    });
    this.client.on('ready', () => {
      if (this.wrongDatabase) {
        // And connects again: the right to select the database may come back.
        this.client.disconnect(true);
      }
    });
    this.client.on('connect', () => {
      this.wrongDatabase = undefined;
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
    return this.client.status === 'ready' && !this.isClosed && !this.wrongDatabase
      ? this.send(script, records)
      : this.untilReady(timeLimit).then(() => this.send(script, records));
  }

  private send<Reply>(script: ScriptName, records: readonly RecordArguments[]): Promise<Reply[]> {
    const values: Argument[] = [records.length];
    for (const [id] of records) {
      values.push(this.prefix + id.toString('base64url'));
    }
    for (const record of records) {
      for (let index = 1; index < record.length; index += 1) {
        values.push(record[index]!);
      }
    }
    const replies = this.scripts[`${script}Buffer`](...values) as Promise<Reply[]>;
    return replies.catch((error: unknown) => {
      throw this.isRefusal(error)
        ? new StoreUnreachableError(error, 'Redis has refused the operation.')
        : error;
    });
  }

  /** In a cluster a script may be sent a second time, and only that be refused. */
  private isRefusal(error: unknown): boolean {
    return !this.isCluster && isBeforeWrite(error);
  }

  /** @throws IdempotencyConfigurationError */
  async open(): Promise<void> {
    this.users += 1;
    this.isClosed = false;
    const login = watchLogin(this.client);
    // Also where it was ended in the pause between two attempts: its status is that of one which makes another.
    this.client.connect().catch(() => undefined);
    try {
      await this.untilReady(START_TIME_LIMIT, login.refused);
    } catch (error) {
      this.users -= 1;
      await this.disconnect();
      const { cause } = error as StoreUnreachableError;
      throw new IdempotencyConfigurationError(
        `Redis, which is to keep the idempotency records, cannot be used (${String(cause)}). Check the address, the ` +
          `password and the number of the database that RedisIdempotencyStore was given, and that the server runs.`,
        { cause },
      );
    } finally {
      login.stopWatching();
    }
  }

  /** Once nobody uses it any more; it may be opened again. */
  async close(): Promise<void> {
    this.users -= 1;
    if (this.users > 0) {
      return;
    }
    this.users = 0;
    this.isClosed = true;
    if (this.client.status === 'ready') {
      await this.client.quit().catch(() => undefined);
    }
    await this.disconnect();
  }

  /** It can be connected again when the promise resolves. */
  private async disconnect(): Promise<void> {
    const { client } = this;
    const isConnected = !['wait', 'reconnecting', 'end'].includes(client.status);
    client.disconnect();
    if (isConnected) {
      const ended = new Promise<void>((resolve) => client.once('end', resolve));
      await withTimeLimit('Closing the connection to Redis', CLOSE_TIME_LIMIT, ended).catch(() => undefined);
    }
  }

  /** The servers that records are written to. */
  masters(): Redis[] {
    return isCluster(this.client) ? this.client.nodes('master') : [this.client];
  }

  /**
   * @param refused rejects when it is no use to wait any longer
   * @throws StoreUnreachableError
   */
  private async untilReady(timeLimit: number, refused?: Promise<never>): Promise<void> {
    const ready = refused ? Promise.race([this.ready(), refused]) : this.ready();
    try {
      // Before the caller's time is over, who would not be told why.
      await withTimeLimit('Connecting to Redis', Math.max(1, timeLimit - TIME_TO_TELL), ready);
    } catch (error) {
      throw new StoreUnreachableError(this.isClosed ? error : (this.lastError ?? error));
    }
    if (this.wrongDatabase) {
      throw new StoreUnreachableError(this.wrongDatabase);
    }
  }

  /** All that wait share one listener. */
  private ready(): Promise<void> {
    if (this.isClosed) {
      return Promise.reject(new Error('The store was closed.'));
    }
    if (this.client.status === 'wait' || this.client.status === 'end') {
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

/**
 * `refused` rejects when the server refuses who connects. A start need not wait then; later it may be a password that is just
 * being changed, and waiting helps.
 */
function watchLogin(client: Redis | Cluster): { refused: Promise<never>; stopWatching: () => void } {
  let stopWatching!: () => void;
  const refused = new Promise<never>((_, reject) => {
    const onError = (error: Error): void => {
      const reason = reasonOf(error);
      if (isLoginRefused(reason)) {
        reject(reason);
      }
    };
    client.on('error', onError);
    stopWatching = () => client.off('error', onError);
  });
  return { refused, stopWatching };
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
