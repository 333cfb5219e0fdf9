import type { RecordedResponse } from '../engine/stored-response.js';
import type { LeaseClaim, LeaseHold } from '../store/idempotency-store.interface.js';
import { type BatchLimits, BatchQueue } from '../batching/batch-queue.js';
import type { RunStatement } from './connections.js';
import { leaseBatchStatements, type LeaseBatchStatements } from './lease-batch-statements.js';
import type { LeaseStatements } from './lease-statements.js';
import { isRefusedByServer } from './postgres-errors.js';
import { idText, type RecordRow, responseColumns } from './record-row.js';
import type { RecordTable } from './record-table.js';

/** `undefined`: a record that came into being while the statement ran; to be looked up by another one. */
export type Claimed = 'won' | RecordRow | undefined;

export interface Completion {
  readonly hold: LeaseHold;
  readonly response: RecordedResponse;
  readonly ttl: number;
}

export interface Renewal {
  readonly hold: LeaseHold;
  readonly lockTtl: number;
}

/** The owner of a claim that has won, or a record that was there. */
type ClaimRow = { readonly id: Buffer } & (
  { readonly winner: string } | ({ readonly winner: null } & RecordRow)
);

/** Of what was written. */
interface Place {
  readonly place: number;
}

/** The operations that concurrent requests share. Each promise is durable when it resolves. */
export class LeaseBatches {
  readonly claims: BatchQueue<LeaseClaim, Claimed>;
  /** Whether the record was the owner's, in progress, and not locked by somebody else. */
  readonly completions: BatchQueue<Completion, boolean>;
  /** As for completions. */
  readonly renewals: BatchQueue<Renewal, boolean>;
  private readonly sql: LeaseBatchStatements;

  constructor(
    table: RecordTable,
    private readonly single: LeaseStatements,
    private readonly run: RunStatement,
    /** For renewals: a lease is lost that waits for its own handler. */
    private readonly runSoon: RunStatement,
    limits: BatchLimits,
  ) {
    this.sql = leaseBatchStatements(table);
    const options = { limits, isRefused: isRefusedByServer };
    this.claims = new BatchQueue((claims, limit) => this.claim(claims, limit), options);
    this.completions = new BatchQueue((items, limit) => this.complete(items, limit), {
      ...options,
      weightOf,
    });
    this.renewals = new BatchQueue((items, limit) => this.renew(items, limit), options);
  }

  private async claim(claims: readonly LeaseClaim[], timeLimit: number): Promise<Claimed[]> {
    const values = columns(claims, [
      ({ id }) => id,
      ({ owner }) => owner,
      ({ scope }) => scope,
      ({ operation }) => operation,
      ({ key }) => key,
      ({ fingerprint }) => fingerprint,
      ({ lockTtl }) => lockTtl,
      ({ ttl }) => ttl,
    ]);
    const { rows } = await this.run<ClaimRow>(this.sql.claim, [...values, timeLimit], timeLimit);
    const winners = new Map<string, string>();
    const known = new Map<string, RecordRow>();
    for (const row of rows) {
      if (row.winner === null) {
        known.set(idText(row.id), row);
      } else {
        winners.set(idText(row.id), row.winner);
      }
    }
    // The same key twice in one batch: the other one has it, and will be found when this one looks again.
    return claims.map((claim) => {
      const id = idText(claim.id);
      return winners.get(id) === claim.owner ? 'won' : known.get(id);
    });
  }

  private async complete(completions: readonly Completion[], timeLimit: number): Promise<boolean[]> {
    const rows = completions.map(({ hold, ttl, response }) => [
      hold.id,
      hold.owner,
      ttl,
      ...responseColumns(response),
    ]);
    if (rows.length === 1) {
      return [(await this.run(this.single.complete, rows[0]!, timeLimit)).rowCount === 1];
    }
    const values = rows[0]!.map((_, column) => rows.map((row) => row[column]));
    const { rows: written } = await this.run<Place>(this.sql.complete, values, timeLimit);
    return isAmong(completions, written);
  }

  private async renew(renewals: readonly Renewal[], timeLimit: number): Promise<boolean[]> {
    const [first] = renewals;
    if (renewals.length === 1) {
      const { hold, lockTtl } = first!;
      return [
        (await this.runSoon(this.single.renew, [hold.id, hold.owner, lockTtl], timeLimit)).rowCount === 1,
      ];
    }
    const values = columns(renewals, [
      ({ hold }) => hold.id,
      ({ hold }) => hold.owner,
      ({ lockTtl }) => lockTtl,
    ]);
    const { rows: written } = await this.runSoon<Place>(this.sql.renew, values, timeLimit);
    return isAmong(renewals, written);
  }
}

/** Of each item, whether it was written. */
function isAmong(items: readonly unknown[], written: readonly Place[]): boolean[] {
  const results = items.map(() => false);
  for (const { place } of written) {
    results[place - 1] = true;
  }
  return results;
}

/** One array for each parameter, as `unnest()` takes them. */
function columns<Item>(items: readonly Item[], read: ((item: Item) => unknown)[]): unknown[][] {
  return read.map((value) => items.map(value));
}

function weightOf({ response }: Completion): number {
  return response === 'unavailable' ? 0 : response.body.byteLength;
}
