import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import type { Connections } from './connections.js';
import type { RecordTable } from './record-table.js';

/** Milliseconds. */
const TIME_LIMIT = 10_000;

/** @throws IdempotencyConfigurationError when the table or one of its columns is missing */
export async function checkRecordTable(
  connections: Connections,
  { name, column }: RecordTable,
): Promise<void> {
  const columns = Object.values(column).join(', ');
  try {
    await connections.query(`SELECT ${columns} FROM ${name} LIMIT 0`, [], TIME_LIMIT);
  } catch (cause) {
    throw new IdempotencyConfigurationError(
      `The table ${name} of idempotency records cannot be used (${(cause as Error).message}). Create it: add ` +
        `\`...idempotencyMigrations\` from '@exactly-once/nestjs' to the \`migrations\` of your DataSource and run ` +
        `them, or run the SQL that \`idempotencySchemaSql()\` returns.`,
      { cause },
    );
  }
}
