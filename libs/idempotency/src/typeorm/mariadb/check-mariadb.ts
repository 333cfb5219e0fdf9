import type { DataSource } from 'typeorm';
import type { Deadline } from '../../engine/time-limit.js';
import { IdempotencyConfigurationError } from '../../errors/idempotency-configuration.error.js';
import type { MariaDbConnection, MariaDbConnections } from './mariadb-connections.js';
import { isServerError } from './mariadb-errors.js';
import { found, recordStatements, TABLE } from './mariadb-records.js';

const ENGINE =
  `SELECT ENGINE AS engine FROM information_schema.TABLES ` +
  `WHERE TABLE_SCHEMA = ? AND TABLE_NAME = '${TABLE}'`;

/** @throws IdempotencyConfigurationError for what is no DataSource of MariaDB */
export function checkDataSource(dataSource: DataSource | undefined): void {
  const type = dataSource?.options?.type;
  if (type !== 'mariadb' && type !== 'mysql') {
    throw new IdempotencyConfigurationError(
      `MariaDbIdempotencyStore was given ${type ? `a DataSource of type '${type}'` : 'no DataSource'}. It needs one of ` +
        `type 'mariadb' or 'mysql', with the driver mysql2.`,
    );
  }
}

/** @throws IdempotencyConfigurationError that says what to do */
export async function checkServer(connections: MariaDbConnections, deadline: Deadline): Promise<void> {
  try {
    await connections.use(deadline, async (connection) => {
      await checkVersion(connection);
      await checkTable(connection, connections.database);
      await checkEngine(connection, connections.database);
    });
  } catch (cause) {
    if (cause instanceof IdempotencyConfigurationError) {
      throw cause;
    }
    throw new IdempotencyConfigurationError(
      `MariaDB, which is to keep the idempotency records, cannot be used (${(cause as Error).message}). Check that the ` +
        `DataSource of MariaDbIdempotencyStore is initialized, and that its server runs.`,
      { cause },
    );
  }
}

async function checkVersion(connection: MariaDbConnection): Promise<void> {
  const { rows } = await connection.send('SELECT VERSION() AS version');
  const version = String(rows[0]!['version']);
  if (!version.includes('MariaDB')) {
    throw new IdempotencyConfigurationError(
      `The server of MariaDbIdempotencyStore says that its version is ${version}, which is no MariaDB. On MySQL the store ` +
        `does not work; docs/stores.md says what there is instead.`,
    );
  }
}

/** That each column is there, and that what is written commits. */
async function checkTable(connection: MariaDbConnection, database: string): Promise<void> {
  const { lookUp } = recordStatements(database);
  const { rows } = await connection.run(lookUp, [Buffer.alloc(32)]).catch((cause: unknown) => {
    throw isServerError(cause) ? tableError(cause.message, cause) : cause;
  });
  if (!found(rows[0]!).commits) {
    throw new IdempotencyConfigurationError(
      `The connections of the DataSource of MariaDbIdempotencyStore have \`autocommit\` switched off, so no record would ` +
        `be durable. Switch it on, in the server's settings or where your application switches it off.`,
    );
  }
}

/** Another engine than InnoDB has no transactions, or loses rows in a crash. */
async function checkEngine(connection: MariaDbConnection, database: string): Promise<void> {
  const { rows } = await connection.run(ENGINE, [Buffer.from(database)]);
  const engine = String(rows[0]?.['engine']);
  if (engine !== 'InnoDB') {
    throw tableError(`its engine is ${engine}, and has to be InnoDB`);
  }
}

function tableError(reason: string, cause?: unknown): IdempotencyConfigurationError {
  return new IdempotencyConfigurationError(
    `The table ${TABLE} of idempotency records in MariaDB cannot be used (${reason}). Create it: add ` +
      `\`...mariaDbIdempotencyMigrations\` from '@exactly-once/nestjs' to the \`migrations\` of your DataSource and run them.`,
    { cause },
  );
}
