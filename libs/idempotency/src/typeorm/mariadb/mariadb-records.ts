import { absentFrom, type StoredRecord } from '../../store/stored-record.js';
import { readResponse, responseColumns } from '../record-row.js';
import type { Row, Value } from './mariadb-connections.js';

export const TABLE = 'idempotency_records';

/**
 * Texts are those bytes that they are in Node: no collation makes two of one. Times are milliseconds since 1970, which no
 * time zone of a session can shift.
 */
const COLUMN_TYPES = {
  version: 'binary(16) NOT NULL',
  scope: 'text',
  operation: 'text NOT NULL',
  key: 'text NOT NULL',
  fingerprint: 'binary(32) NOT NULL',
  owner: 'char(36) NOT NULL',
  attempt: 'int unsigned NOT NULL',
  created_at: 'bigint NOT NULL',
  lock_expires_at: 'bigint NOT NULL',
  completed_at: 'bigint',
  expires_at: 'bigint NOT NULL',
  purge_at: 'bigint NOT NULL',
  steps: 'longblob',
  status: 'smallint unsigned',
  headers: 'longblob',
  body: 'longblob',
} as const;

type Column = keyof typeof COLUMN_TYPES;

const COLUMNS = Object.keys(COLUMN_TYPES) as Column[];

/** Not by way of the session's time zone, in which one hour of a year may come twice. */
const NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000";

export const CREATE_TABLE = [
  `CREATE TABLE ${TABLE} (`,
  `  id binary(32) NOT NULL PRIMARY KEY,`,
  ...COLUMNS.map((column) => `  ${quoted(column)} ${COLUMN_TYPES[column]},`),
  `  KEY ${TABLE}_purge_at (purge_at)`,
  `) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC`,
].join('\n');

/** The statements of one table. */
export interface RecordStatements {
  readonly lookUp: string;
  readonly insert: string;
  readonly update: string;
  readonly delete: string;
  readonly purge: string;
}

/** @param database of the table: somebody may have switched a connection of the pool to another one */
export function recordStatements(database: string): RecordStatements {
  const table = `${quoted(database)}.${TABLE}`;
  return {
    // `commits`: whether a write on this connection commits by itself. A record of nulls where there is none.
    lookUp:
      `SELECT ${NOW} AS now, @@autocommit AND NOT @@in_transaction AS commits, @@max_allowed_packet AS max_packet, ` +
      `${COLUMNS.map(read).join(', ')} FROM (SELECT 1) AS one LEFT JOIN ${table} ON id = ?`,
    insert:
      `INSERT INTO ${table} (id, ${COLUMNS.map(quoted).join(', ')}) ` +
      `VALUES (?${', ?'.repeat(COLUMNS.length)})`,
    update: `UPDATE ${table} SET ${COLUMNS.map((column) => `${quoted(column)} = ?`).join(', ')} WHERE id = ? AND version = ?`,
    delete: `DELETE FROM ${table} WHERE id = ? AND version = ?`,
    purge: `DELETE FROM ${table} WHERE purge_at <= ${NOW} ORDER BY purge_at LIMIT ?`,
  };
}

/** As bytes: a connection may have a character set that has not all of Unicode. A large value would be cast to NULL. */
function read(column: Column): string {
  return COLUMN_TYPES[column].startsWith('longblob')
    ? quoted(column)
    : `CAST(${quoted(column)} AS BINARY) AS ${quoted(column)}`;
}

/** What a look-up has found. */
export interface Found {
  readonly now: number;
  readonly commits: boolean;
  /** Bytes that a statement may have. */
  readonly maxPacket: number;
  readonly version: Buffer | null;
  readonly record: StoredRecord | undefined;
}

/** @throws IdempotencyRecordUnreadableError */
export function found(row: Row): Found {
  return {
    now: Number(row['now']),
    commits: text(row['commits']) === '1',
    maxPacket: Number(row['max_packet']),
    version: row['version']!,
    record: row['version'] ? readRecord(row as Readonly<Record<Column, Buffer | null>>) : undefined,
  };
}

/** In the order of the columns. */
export function valuesOf(record: StoredRecord, version: Buffer): Value[] {
  const [status, headers, body] =
    record.response === null ? [null, null, null] : responseColumns(record.response);
  const values: Record<Column, Value> = {
    version,
    scope: bytes(record.scope),
    operation: bytes(record.operation),
    key: bytes(record.key),
    fingerprint: record.fingerprint,
    owner: bytes(record.owner),
    attempt: record.attempt,
    created_at: record.createdAt,
    lock_expires_at: record.lockExpiresAt,
    completed_at: record.completedAt,
    expires_at: record.expiresAt,
    purge_at: absentFrom(record),
    steps: bytes(record.steps),
    status,
    headers: bytes(headers),
    body,
  };
  return COLUMNS.map((column) => values[column]);
}

function readRecord(row: Readonly<Record<Column, Buffer | null>>): StoredRecord {
  const completedAt = row.completed_at && Number(row.completed_at);
  const { status, headers, body } = row;
  return {
    scope: text(row.scope),
    operation: text(row.operation)!,
    key: text(row.key)!,
    fingerprint: row.fingerprint!,
    owner: text(row.owner)!,
    attempt: Number(row.attempt),
    steps: text(row.steps),
    createdAt: Number(row.created_at),
    lockExpiresAt: Number(row.lock_expires_at),
    completedAt,
    expiresAt: Number(row.expires_at),
    response:
      completedAt === null
        ? null
        : readResponse({ status: status && Number(status), headers: text(headers), body }),
  };
}

/**
 * Texts go to the server as bytes, in hexadecimal digits: it reads them as UTF-8 whatever the character set of the
 * connection, and no `sql_mode` changes how they are escaped.
 */
function bytes(value: string | null): Buffer | null {
  return value === null ? null : Buffer.from(value);
}

function text(value: Buffer | null | undefined): string | null {
  return value ? value.toString() : null;
}

/** `key` is a word of SQL. */
function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}
