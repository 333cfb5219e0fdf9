import { IdempotencyRecordUnreadableError } from '../errors/outcome.errors.js';
import type { HeaderValue, RecordedResponse } from '../engine/stored-response.js';
import type { ExistingRecord } from '../store/claim.js';
import type { RecordInspection } from '../store/idempotency-store.interface.js';
import { NOBODY } from '../store/nobody.js';
import type { RecordTable } from './record-table.js';

export type RecordState = RecordInspection['state'];

/** A row as `LOOK_UP` gives it. */
export interface RecordRow {
  readonly state: RecordState;
  readonly fingerprint: Buffer;
  readonly owner: string;
  readonly attempt: number;
  readonly steps: string | null;
  readonly status: number | null;
  readonly headers: string | null;
  readonly body: Buffer | null;
}

/** @param milliseconds SQL of a number */
export function fromNow(milliseconds: string): string {
  return `clock_timestamp() + ${milliseconds} * interval '1 millisecond'`;
}

/** True once the retention is over and nobody holds a live lease: the row counts as absent. */
export function isExpired({ column: c }: RecordTable): string {
  return (
    `(${c.expiresAt} <= clock_timestamp() AND ` +
    `(${c.completedAt} IS NOT NULL OR ${c.lockExpiresAt} <= clock_timestamp()))`
  );
}

/** Steps only grow: a shorter text is older than the one that is there. @param steps SQL of a text */
export function isNoShorter({ column: c }: RecordTable, steps: string): string {
  return `(${c.steps} IS NULL OR length(${c.steps}) <= length(${steps}))`;
}

/** The state of a row, as the database's clock has it. */
export function stateOf(table: RecordTable): string {
  const { column: c } = table;
  return (
    `CASE WHEN ${isExpired(table)} THEN 'expired' WHEN ${c.completedAt} IS NOT NULL THEN 'completed' ` +
    `WHEN ${c.owner} = '${NOBODY}' THEN 'released' ` +
    `WHEN ${c.lockExpiresAt} > clock_timestamp() THEN 'in-flight' ELSE 'abandoned' END`
  );
}

/**
 * The record with its state, judged by `clock_timestamp()`: `now()` stands still from the start of a
 * transaction on.
 *
 * @param id SQL of the record's id
 */
export function lookUp(table: RecordTable, id: string): string {
  return `SELECT ${lookUpColumns(table)} FROM ${table.name} WHERE ${table.column.id} = ${id}`;
}

/** The columns of a {@link RecordRow}, in its order. */
export function lookUpColumns(table: RecordTable): string {
  const { column: c } = table;
  return (
    `${c.fingerprint} AS fingerprint, ${c.owner} AS owner, ${c.attempt} AS attempt, ` +
    `${c.steps} AS steps, ${c.status} AS status, ${c.headers} AS headers, ${c.body} AS body, ` +
    `${stateOf(table)} AS state`
  );
}

/** @returns undefined for an expired record, which counts as absent */
export function toExistingRecord(row: RecordRow | undefined): ExistingRecord | undefined {
  if (!row || row.state === 'expired') {
    return undefined;
  }
  const { state, fingerprint, owner } = row;
  switch (state) {
    case 'completed':
      return { type: state, fingerprint, owner, response: readResponse(row) };
    case 'in-flight':
      return { type: state, fingerprint, owner };
    default:
      return { type: 'abandoned', fingerprint, owner };
  }
}

/** An id as a key of a Map or a Set. */
export function idText(id: Buffer): string {
  return id.toString('latin1');
}

/** The columns of a response, in the order status, headers, body. */
export function responseColumns(response: RecordedResponse): [number | null, string | null, Buffer | null] {
  return response === 'unavailable'
    ? [null, null, null]
    : [response.status, JSON.stringify(response.headers), response.body];
}

/** @throws IdempotencyRecordUnreadableError rather than let a damaged record be executed again */
export function readResponse({
  status,
  headers,
  body,
}: Pick<RecordRow, 'status' | 'headers' | 'body'>): RecordedResponse {
  if (status === null) {
    return 'unavailable';
  }
  try {
    const parsed: unknown = JSON.parse(headers!);
    if (typeof parsed === 'object' && parsed !== null && body) {
      return { status, headers: parsed as Record<string, HeaderValue>, body };
    }
  } catch (cause) {
    throw new IdempotencyRecordUnreadableError(cause);
  }
  throw new IdempotencyRecordUnreadableError();
}
