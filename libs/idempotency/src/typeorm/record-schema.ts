import { DefaultNamingStrategy, getMetadataArgsStorage } from 'typeorm';
import pg from 'pg';
import { IdempotencyRecord } from './idempotency-record.entity.js';
import { quotePath, type RecordColumn, type RecordTable } from './record-table.js';

const COLUMN_TYPES: Readonly<Record<RecordColumn, string>> = {
  id: 'bytea NOT NULL',
  scope: 'text',
  operation: 'text NOT NULL',
  key: 'text NOT NULL',
  fingerprint: 'bytea NOT NULL',
  owner: 'uuid NOT NULL',
  attempt: 'integer NOT NULL',
  createdAt: 'timestamp with time zone NOT NULL',
  lockExpiresAt: 'timestamp with time zone',
  completedAt: 'timestamp with time zone',
  expiresAt: 'timestamp with time zone NOT NULL',
  purgeAt: 'timestamp with time zone NOT NULL',
  steps: 'text',
  status: 'smallint',
  headers: 'text',
  body: 'bytea',
};

/**
 * Percent of each page that inserts fill, so that a completion finds place beside its row (a heap-only update). All records
 * of a page may be completed by one statement, and until that has committed the old versions are in the way.
 */
const FILLFACTOR = 35;

/** @returns the statements that create the table, in order */
export function createRecordTable(table: RecordTable): string[] {
  const columns = Object.entries(COLUMN_TYPES).map(
    ([property, type]) => `${table.column[property as RecordColumn]} ${type}`,
  );
  const primaryKey = `PRIMARY KEY (${table.column.id})`;
  return [
    `CREATE TABLE ${table.name} (\n  ${[...columns, primaryKey].join(',\n  ')}\n) WITH (fillfactor = ${FILLFACTOR})`,
    `CREATE INDEX ${table.purgeIndex} ON ${table.name} (${table.column.purgeAt})`,
  ];
}

/**
 * The SQL that creates the table of records, for teams with their own migration tool.
 *
 * @param options.table the table's name, with its schema if it needs one; default `idempotency_records`
 * @publicApi
 */
export function idempotencySchemaSql(options: { table?: string } = {}): string {
  return `${createRecordTable(declaredTable(options.table)).join(';\n\n')};\n`;
}

/** The names as the entity declares them, for a DataSource that does not have the entity. */
export function declaredTable(name = 'idempotency_records'): RecordTable {
  const columns = getMetadataArgsStorage().filterColumns(IdempotencyRecord);
  const names = columns.map(({ propertyName, options }) => [
    propertyName,
    pg.escapeIdentifier(options.name!),
  ]);
  const purgeIndex = new DefaultNamingStrategy().indexName(name, ['purge_at']);
  return {
    name: quotePath(name),
    column: Object.fromEntries(names) as Record<RecordColumn, string>,
    purgeIndex: pg.escapeIdentifier(purgeIndex),
  };
}
