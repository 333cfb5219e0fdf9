import type { Repository } from 'typeorm';
import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { Connections } from './connections.js';
import type { IdempotencyRecord } from './idempotency-record.entity.js';
import { recordTable } from './record-table.js';
import { dataSourceOf } from './typeorm-versions.js';

/** Milliseconds. */
const TIME_LIMIT = 10_000;

/** @throws IdempotencyConfigurationError when the table or one of its columns is missing */
export async function checkRecordTable(repository: Repository<IdempotencyRecord>): Promise<void> {
  const { name, column } = recordTable(repository.metadata);
  const connections = new Connections(dataSourceOf(repository.manager));
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
