import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Deadline } from '../../engine/time-limit.js';
import { AtomicRecordStore } from '../../store/atomic-record.store.js';
import type { RecordChange, StoredRecord } from '../../store/stored-record.js';
import { StoreUnreachableError } from '../../store/store-unreachable.error.js';
import { checkDataSource, checkServer } from './check-mariadb.js';
import { type MariaDbConnection, MariaDbConnections, type Value } from './mariadb-connections.js';
import { isLostRace, isRefusal } from './mariadb-errors.js';
import { type Found, found, type RecordStatements, recordStatements, valuesOf } from './mariadb-records.js';

/** Milliseconds that a start waits for the database. */
const START_TIME_LIMIT = 10_000;

/** Bytes of a statement beside its values, generously. */
const OVERHEAD = 4_096;

/**
 * Keeps the records of `lease` mode in MariaDB 10.6 or later, in the application's own DataSource of the type `mariadb` or
 * `mysql`, with the driver `mysql2`. Its table is made by `mariaDbIdempotencyMigrations`. Each operation takes one
 * connection of the pool for one read and at most one write, which commits by itself.
 *
 * ```ts
 * IdempotencyModule.forRootAsync({
 *   dataSource: false,
 *   inject: [DataSource],
 *   useFactory: (dataSource: DataSource) => ({ scope, store: new MariaDbIdempotencyStore(dataSource) }),
 * });
 * ```
 *
 * @publicApi
 */
export class MariaDbIdempotencyStore extends AtomicRecordStore {
  readonly keepsTimeLimits = true;
  private readonly logger = new Logger('Idempotency');
  private readonly connections: MariaDbConnections;
  private madeSql: RecordStatements | undefined;

  /** @throws IdempotencyConfigurationError for a DataSource of another type */
  constructor(dataSource: DataSource) {
    super();
    checkDataSource(dataSource);
    this.connections = new MariaDbConnections(dataSource);
  }

  /** @throws IdempotencyConfigurationError where the server or the table cannot be used */
  open(): Promise<void> {
    return checkServer(this.connections, new Deadline(START_TIME_LIMIT));
  }

  async purge(limit: number, timeLimit: number): Promise<number> {
    return this.untilDone(timeLimit, (connection) => this.write(connection, this.sql.purge, [limit]));
  }

  protected async change<T>(
    id: Buffer,
    change: RecordChange<T>,
    timeLimit: number,
    isUrgent = false,
  ): Promise<T> {
    const tryOnce = (connection: MariaDbConnection) => this.tryChange(connection, id, change);
    return (await this.untilDone(timeLimit, tryOnce, isUrgent)).result;
  }

  private get sql(): RecordStatements {
    return (this.madeSql ??= recordStatements(this.connections.database));
  }

  /** @param attempt gives `undefined` where somebody else was faster */
  private async untilDone<T>(
    timeLimit: number,
    attempt: (connection: MariaDbConnection) => Promise<T | undefined>,
    isUrgent = false,
  ): Promise<T> {
    const deadline = new Deadline(timeLimit);
    for (;;) {
      const result = isUrgent
        ? await this.connections.useSoon(deadline, attempt)
        : await this.connections.use(deadline, attempt);
      if (result !== undefined) {
        return result;
      }
    }
  }

  private async tryChange<T>(
    connection: MariaDbConnection,
    id: Buffer,
    change: RecordChange<T>,
  ): Promise<{ result: T } | undefined> {
    const before = await this.lookUp(connection, id);
    const { record, result } = change(before.record, before.now);
    const isDone = record === before.record || (await this.replace(connection, id, before, record)) === 1;
    return isDone ? { result } : undefined;
  }

  /** Nothing has happened where this fails. */
  private async lookUp(connection: MariaDbConnection, id: Buffer): Promise<Found> {
    const { rows } = await connection.run(this.sql.lookUp, [id]).catch((error: unknown) => {
      throw new StoreUnreachableError(error, 'The record could not be read.');
    });
    const before = rows[0] && found(rows[0]);
    if (!before?.commits) {
      connection.discard();
      throw new StoreUnreachableError(
        undefined,
        'A connection of the pool is in a transaction that somebody has left open, has `autocommit` switched off, or shows ' +
          'no rows (`sql_select_limit`).',
      );
    }
    return before;
  }

  private replace(
    connection: MariaDbConnection,
    id: Buffer,
    { version, maxPacket }: Found,
    record: StoredRecord | undefined,
  ): Promise<number | undefined> {
    if (!record) {
      return this.write(connection, this.sql.delete, [id, version]);
    }
    // Never used twice: a record that was removed and made anew is another one.
    const values = this.valuesWithin(maxPacket, randomBytes(16), record);
    return version === null
      ? this.write(connection, this.sql.insert, [id, ...values])
      : this.write(connection, this.sql.update, [...values, id, version]);
  }

  /** @returns how many rows it has written; `undefined` where it lost to another statement */
  private async write(
    connection: MariaDbConnection,
    sql: string,
    values: readonly Value[],
  ): Promise<number | undefined> {
    try {
      return (await connection.run(sql, values)).affected;
    } catch (error) {
      if (isLostRace(error)) {
        return undefined;
      }
      throw isRefusal(error) ? new StoreUnreachableError(error, 'MariaDB has refused the statement.') : error;
    }
  }

  /** An answer that the server would not take in one statement is recorded as unavailable, rather than not at all. */
  private valuesWithin(maxPacket: number, version: Buffer, record: StoredRecord): Value[] {
    const values = valuesOf(record, version);
    if (record.completedAt === null || statementBytes(values) <= maxPacket) {
      return values;
    }
    this.logger.warn(
      `An answer of ${record.operation} was not recorded, since it does not fit into \`max_allowed_packet\` of MariaDB ` +
        `(${maxPacket} bytes, of which each byte of an answer takes two). A retry gets 409 ` +
        `IDEMPOTENCY_RESPONSE_UNAVAILABLE.`,
    );
    return valuesOf({ ...record, response: 'unavailable' }, version);
  }
}

/** Bytes are sent as hexadecimal digits. */
function statementBytes(values: readonly Value[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (Buffer.isBuffer(value) ? 2 * value.byteLength : 0),
    OVERHEAD,
  );
}
