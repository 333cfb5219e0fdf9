import pg from 'pg';
import type { EntityMetadata } from 'typeorm';
import type { IdempotencyRecord } from './idempotency-record.entity.js';

export type RecordColumn = keyof IdempotencyRecord;

/** Names of the table, its columns and its index, as SQL. */
export interface RecordTable {
  /** With its schema. */
  readonly name: string;
  readonly column: Readonly<Record<RecordColumn, string>>;
  readonly purgeIndex: string;
}

/** Reads the names from the metadata, so that schemas, prefixes and naming strategies of the DataSource hold. */
export function recordTable(metadata: EntityMetadata): RecordTable {
  const columns = metadata.columns.map(({ propertyName, databaseName }) => [
    propertyName,
    quote(databaseName),
  ]);
  return {
    name: quotePath(metadata.tablePath),
    column: Object.fromEntries(columns) as Record<RecordColumn, string>,
    purgeIndex: quote(metadata.indices[0]!.name),
  };
}

export function quotePath(path: string): string {
  return path.split('.').map(quote).join('.');
}

function quote(name: string): string {
  return pg.escapeIdentifier(name);
}
