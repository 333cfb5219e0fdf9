import type { Client, PoolClient, QueryConfig, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { Deadline, withTimeLimit } from '../engine/time-limit.js';
import { StoreUnreachableError } from '../store/store-unreachable.error.js';
import { isRefusedByServer, retryTransient } from './postgres-errors.js';
import { acquireSoon, SpareConnection } from './spare-connection.js';

/** One pooled connection, held outside of TypeORM's query runners. */
export interface Connection {
  readonly client: PoolClient;
  /** Gives the connection back. Later calls do nothing. */
  release(): void;
  /** Closes the connection, since its state is not known. Later calls do nothing. */
  destroy(cause: unknown): void;
}

/** Runs one statement, which commits by itself, and once more where it lost to another transaction. */
export type RunStatement = <Row>(
  sql: string,
  values: unknown[],
  timeLimit: number,
) => Promise<{ rows: Row[]; rowCount: number | null }>;

/** Takes connections from the pool of a DataSource, never an ambient one. */
export class Connections {
  private readonly spare = new SpareConnection(
    () => this.connect(),
    (client) => client.end(),
  );

  constructor(readonly dataSource: DataSource) {}

  /** @throws StoreUnreachableError */
  async acquire(deadline: Deadline): Promise<Connection> {
    const driver = this.dataSource.driver as PostgresDriver;
    try {
      const { remaining } = deadline;
      const obtaining = driver.obtainMasterConnection() as Promise<Obtained>;
      const step = 'Getting a database connection';
      return new HeldConnection(...(await withTimeLimit(step, remaining, obtaining, giveBack)));
    } catch (error) {
      throw new StoreUnreachableError(error);
    }
  }

  /** Whatever fails in `work`, a connection in an unknown state is not used again. */
  async use<T>(deadline: Deadline, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.acquire(deadline);
    try {
      return await work(connection);
    } catch (error) {
      connection.destroy(error);
      throw error;
    } finally {
      connection.release();
    }
  }

  /**
   * Runs one statement, which commits by itself, on a connection of its own.
   *
   * @param timeLimit milliseconds, the wait for a connection included
   */
  async query(text: string, values: unknown[], timeLimit: number): Promise<QueryResult> {
    const deadline = new Deadline(timeLimit);
    return this.queryOn(await this.acquire(deadline), text, values, deadline);
  }

  readonly run: RunStatement = (sql, values, timeLimit) =>
    retryTransient(() => this.query(sql, values, timeLimit));

  /** For what must not wait for the application's own work: where the pool has no connection soon, on one beside it. */
  readonly runSoon: RunStatement = (sql, values, timeLimit) =>
    retryTransient(() => this.querySoon(sql, values, timeLimit));

  private async querySoon(text: string, values: unknown[], timeLimit: number): Promise<QueryResult> {
    const deadline = new Deadline(timeLimit);
    const connection = await acquireSoon(deadline, (patience) => this.acquire(patience));
    return connection
      ? this.queryOn(connection, text, values, deadline)
      : this.spare.use(deadline, (client) => client.query(limited(text, deadline.remaining, values)));
  }

  private async queryOn(
    connection: Connection,
    text: string,
    values: unknown[],
    deadline: Deadline,
  ): Promise<QueryResult> {
    try {
      return await connection.client.query(limited(text, deadline.remaining, values));
    } catch (error) {
      if (!isRefusedByServer(error)) {
        connection.destroy(error);
      }
      throw error;
    } finally {
      connection.release();
    }
  }

  /** As the pool makes its own. @throws StoreUnreachableError */
  private async connect(): Promise<Client> {
    const pool = (this.dataSource.driver as PostgresDriver).master as ClientPool;
    const client = new pool.Client(pool.options);
    // Whoever uses it hears of its end by an error of the statement.
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      throw new StoreUnreachableError(error);
    }
    return client;
  }
}

/** What the pool of `pg` makes its clients of. */
interface ClientPool {
  readonly Client: new (options: object) => Client;
  readonly options: object;
}

/** `query_timeout` is the driver's: the server may go on, so the connection must not be used again. */
export function limited(
  text: string,
  timeLimit: number,
  values?: unknown[],
): QueryConfig & { query_timeout: number } {
  return { text, values, query_timeout: timeLimit };
}

/** As TypeORM's driver gives a connection: with the function that returns it to the pool. */
type Obtained = [client: PoolClient, release: (error?: unknown) => void];

function giveBack([, release]: Obtained): void {
  release();
}

class HeldConnection implements Connection {
  private held = true;

  constructor(
    readonly client: PoolClient,
    private readonly returnToPool: (error?: unknown) => void,
  ) {
    // Without a listener, the loss of a connection that is checked out ends the process.
    client.on('error', this.lost);
  }

  release(): void {
    this.end();
  }

  destroy(cause: unknown): void {
    this.end(cause ?? new Error('The connection was destroyed.'));
  }

  private end(error?: unknown): void {
    if (this.held) {
      this.held = false;
      this.client.removeListener('error', this.lost);
      this.returnToPool(error);
    }
  }

  private readonly lost = (error: unknown): void => this.destroy(error);
}
