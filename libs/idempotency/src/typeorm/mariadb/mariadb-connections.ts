import type { DataSource } from 'typeorm';
import type { MysqlDriver } from 'typeorm/driver/mysql/MysqlDriver.js';
import { type Deadline, withTimeLimit } from '../../engine/time-limit.js';
import { StoreUnreachableError } from '../../store/store-unreachable.error.js';
import { acquireSoon, SpareConnection } from '../spare-connection.js';
import { isLostRace } from './mariadb-errors.js';

/** Milliseconds that the server gives up a statement before its caller does, who then need not close the connection. */
const TIME_TO_TELL = 50;

/** A field is the bytes that the server has sent, whatever its type. */
export type Row = Readonly<Record<string, Buffer | null>>;

export type Value = Buffer | number | null;

/** What a SELECT and a write give. */
interface Answer {
  readonly rows: readonly Row[];
  readonly affected: number;
}

/** What the driver makes the connections of its pool of. */
interface ConnectionMaker {
  readonly mysql: { createConnection(options: object): OwnConnection };
  createConnectionOptions(options: object, credentials: object): object;
}

/** As `mysql2` has it. */
interface OwnConnection extends PooledConnection {
  connect(callback: (error: Error | null) => void): void;
  on(event: 'error', listener: () => void): void;
}

/** As `mysql2` has it. */
interface PooledConnection {
  query(
    options: object,
    callback: (error: Error | null, result: Row[] | { affectedRows: number }) => void,
  ): void;
  /** Gives it back to the pool. */
  release(): void;
  /** Closes it, and takes it out of the pool. */
  destroy(): void;
}

/** One connection of the pool, for statements that commit by themselves. */
export class MariaDbConnection {
  private isUsable = true;

  constructor(
    private readonly connection: PooledConnection,
    private readonly deadline: Deadline,
  ) {}

  /** Ends in time on the server, too: what was given up does not wait there for a lock, to be done later. */
  run(sql: string, values?: readonly Value[]): Promise<Answer> {
    const limit = Math.max(1, this.deadline.remaining - TIME_TO_TELL);
    return this.send(`SET STATEMENT max_statement_time = ${limit / 1_000} FOR ${sql}`, values);
  }

  /** As it is, for a server that may be no MariaDB. */
  async send(sql: string, values: readonly Value[] = []): Promise<Answer> {
    try {
      return await withTimeLimit('A statement', this.deadline.remaining, this.answer(sql, values));
    } catch (error) {
      if (!isLostRace(error)) {
        // An answer that comes late would be taken for that of the next statement; and what was refused may be so for what
        // somebody has set on this connection.
        this.discard();
      }
      throw error;
    }
  }

  /** Its state is not known, or not as it should be: it is not used again. */
  discard(): void {
    this.isUsable = false;
  }

  end(): void {
    if (this.isUsable) {
      this.connection.release();
    } else {
      this.connection.destroy();
    }
  }

  private answer(sql: string, values: readonly Value[]): Promise<Answer> {
    // The application's own settings of the driver must not change what is read.
    const options = { sql, values, typeCast: asBytes, rowsAsArray: false, nestTables: false };
    return new Promise((resolve, reject) => {
      this.connection.query(options, (error, result) => {
        if (error) {
          reject(error);
        } else {
          resolve(
            Array.isArray(result)
              ? { rows: result, affected: 0 }
              : { rows: [], affected: result.affectedRows },
          );
        }
      });
    });
  }
}

/** Takes connections from the pool of a DataSource, below its query runners. */
export class MariaDbConnections {
  private readonly spare = new SpareConnection(
    () => this.connect(),
    (connection) => connection.destroy(),
  );

  constructor(private readonly dataSource: DataSource) {}

  /** The one that the DataSource is configured with; known once that is initialized. */
  get database(): string {
    return (this.dataSource.driver as MysqlDriver).database!;
  }

  /** @throws StoreUnreachableError where there is no connection in time; what `work` throws */
  async use<T>(deadline: Deadline, work: (connection: MariaDbConnection) => Promise<T>): Promise<T> {
    return this.useOne(await this.acquire(deadline), deadline, work);
  }

  /** For what must not wait for the application's own work: where the pool has no connection soon, on one beside it. */
  async useSoon<T>(deadline: Deadline, work: (connection: MariaDbConnection) => Promise<T>): Promise<T> {
    const pooled = await acquireSoon(deadline, (patience) => this.acquire(patience));
    return pooled
      ? this.useOne(pooled, deadline, work)
      : this.spare.use(deadline, (connection) => work(new MariaDbConnection(connection, deadline)));
  }

  private async useOne<T>(
    pooled: PooledConnection,
    deadline: Deadline,
    work: (connection: MariaDbConnection) => Promise<T>,
  ): Promise<T> {
    const connection = new MariaDbConnection(pooled, deadline);
    try {
      return await work(connection);
    } finally {
      connection.end();
    }
  }

  /** As the pool makes its own. @throws StoreUnreachableError */
  private async connect(): Promise<OwnConnection> {
    const driver = this.dataSource.driver as MysqlDriver;
    const { options } = driver;
    const maker = driver as unknown as ConnectionMaker;
    const connection = maker.mysql.createConnection(
      maker.createConnectionOptions(options, options.replication?.master ?? options),
    );
    // Whoever uses it hears of its end by an error of the statement.
    connection.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      connection.connect((error) => (error ? reject(new StoreUnreachableError(error)) : resolve(connection)));
    });
  }

  private async acquire(deadline: Deadline): Promise<PooledConnection> {
    try {
      const { remaining } = deadline;
      // Of the type `mariadb` and of `mysql`. With replication, the one that takes writes.
      const driver = this.dataSource.driver as MysqlDriver;
      const obtaining: Promise<PooledConnection> = driver.obtainMasterConnection();
      return await withTimeLimit('Getting a database connection', remaining, obtaining, (late) =>
        late.release(),
      );
    } catch (error) {
      throw new StoreUnreachableError(error);
    }
  }
}

function asBytes(field: { buffer(): Buffer | null }): Buffer | null {
  return field.buffer();
}
