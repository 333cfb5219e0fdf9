import type { Repository } from 'typeorm';
import type { EngineLogger } from '../engine/engine-logger.js';
import { hashParts } from '../engine/hashing.js';
import type { RecordedResponse } from '../engine/stored-response.js';
import { Deadline } from '../engine/time-limit.js';
import type { ExistingRecord } from '../store/claim.js';
import type {
  ClaimedLease,
  LeaseClaim,
  LeaseClaimResult,
  LeaseHold,
  IdempotencyStore,
  RecordInspection,
  StepWork,
} from '../store/idempotency-store.interface.js';
import type { BatchLimits } from '../batching/batch-queue.js';
import { checkRecordTable } from './check-record-table.js';
import { Connections } from './connections.js';
import type { IdempotencyRecord } from './idempotency-record.entity.js';
import { type Claimed, LeaseBatches } from './lease-batches.js';
import { type LeaseStatements, leaseStatements } from './lease-statements.js';
import { makeAmbient } from './ambient/make-ambient.js';
import { type RecordRow, responseColumns, toExistingRecord } from './record-row.js';
import { type RecordTable, recordTable } from './record-table.js';
import { StepTransaction } from './step-transaction.js';
import { dataSourceOf } from './typeorm-versions.js';

/** What the first attempt at a record gets. */
const NEW: ClaimedLease = { type: 'claimed', attempt: 1, steps: null };

/** `lease` mode on Postgres: each operation is one or two statements that commit by themselves. */
export class PostgresLeaseStore implements IdempotencyStore {
  readonly keepsTimeLimits = true;
  private readonly connections: Connections;
  private readonly sql: LeaseStatements;
  private readonly steps: StepTransaction;
  private readonly batches: LeaseBatches;
  private readonly table: RecordTable;
  /** Of the advisory lock by which one instance purges at a time. */
  private readonly purgeLock: string;

  constructor(repository: Repository<IdempotencyRecord>, logger: EngineLogger, limits: BatchLimits) {
    const dataSource = dataSourceOf(repository.manager);
    this.connections = new Connections(dataSource);
    const table = recordTable(repository.metadata);
    this.table = table;
    this.purgeLock = String(hashParts('purge/1', [table.name]).readBigInt64BE(0));
    this.sql = leaseStatements(table);
    this.batches = new LeaseBatches(table, this.sql, this.connections.run, this.connections.runSoon, limits);
    this.steps = new StepTransaction(this.connections, table, this.sql, makeAmbient(dataSource), logger);
  }

  claim(claim: LeaseClaim): Promise<LeaseClaimResult> {
    const deadline = new Deadline(claim.timeLimit);
    return this.batches.claims
      .add(claim, deadline)
      .then((found) => (found === 'won' ? NEW : this.claimExisting(found, claim, deadline)));
  }

  async complete(hold: LeaseHold, response: RecordedResponse, ttl: number): Promise<boolean> {
    const { timeLimit } = hold;
    const values = [hold.id, hold.owner, ttl, ...responseColumns(response)];
    return (
      (await this.batches.completions.add({ hold, response, ttl }, new Deadline(timeLimit))) ||
      // In a batch, a row that somebody else had locked was left out: this waits for it.
      (await this.count(this.sql.complete, values, timeLimit)) === 1 ||
      (await this.isCompletedBy(hold))
    );
  }

  async release({ id, owner, timeLimit }: LeaseHold): Promise<boolean> {
    return (
      (await this.count(this.sql.release, [id, owner], timeLimit)) === 1 ||
      (await this.count(this.sql.releaseWithSteps, [id, owner], timeLimit)) === 1
    );
  }

  async renew(hold: LeaseHold, lockTtl: number): Promise<boolean> {
    const { id, owner, timeLimit } = hold;
    return (
      (await this.batches.renewals.add({ hold, lockTtl }, new Deadline(timeLimit))) ||
      (await this.connections.runSoon(this.sql.renew, [id, owner, lockTtl], timeLimit)).rowCount === 1 ||
      // Without a row, the completion may just have been faster.
      (await this.isCompletedBy(hold))
    );
  }

  async recordSteps({ id, owner, timeLimit }: LeaseHold, steps: string): Promise<boolean> {
    return (
      (await this.connections.runSoon(this.sql.recordSteps, [id, owner, steps], timeLimit)).rowCount === 1
    );
  }

  recordStepsWith<T>(hold: LeaseHold, step: StepWork<T>): Promise<{ result: T; recorded: boolean }> {
    return this.steps.run(hold, step);
  }

  async inspect(id: Buffer, timeLimit: number): Promise<RecordInspection | undefined> {
    return (await this.connections.run<RecordInspection>(this.sql.inspect, [id], timeLimit)).rows[0];
  }

  async releaseAbandoned(id: Buffer, timeLimit: number): Promise<boolean> {
    return (await this.count(this.sql.releaseAbandoned, [id], timeLimit)) === 1;
  }

  async find(id: Buffer, timeLimit: number): Promise<ExistingRecord | undefined> {
    return toExistingRecord(await this.row(id, timeLimit));
  }

  async purge(limit: number, timeLimit: number): Promise<number> {
    const { rowCount } = await this.connections.query(this.sql.purge, [limit, this.purgeLock], timeLimit);
    return rowCount ?? 0;
  }

  /** @throws IdempotencyConfigurationError when the table cannot be used */
  open(): Promise<void> {
    return checkRecordTable(this.connections, this.table);
  }

  private async claimExisting(
    found: Claimed,
    claim: LeaseClaim,
    deadline: Deadline,
  ): Promise<LeaseClaimResult> {
    // The row may have vanished since, or change hands while we try to take it: then look again.
    for (let row = found; ; row = await this.batches.claims.add(claim, deadline)) {
      const result = row === 'won' ? NEW : row && (await this.claimRow(row, claim, deadline));
      if (result) {
        return result;
      }
    }
  }

  private async claimRow(
    row: RecordRow,
    claim: LeaseClaim,
    deadline: Deadline,
  ): Promise<LeaseClaimResult | undefined> {
    const { id, owner, fingerprint, lockTtl, ttl } = claim;
    if (row.owner === owner) {
      return { type: 'claimed', attempt: row.attempt, steps: row.steps };
    }
    const values = [id, owner, fingerprint, lockTtl, ttl];
    if (row.state === 'expired') {
      return this.take(this.sql.restart, values, deadline);
    }
    const { takeOverAbandoned } = claim;
    const isFree = row.state === 'released' || (row.state === 'abandoned' && takeOverAbandoned);
    return isFree && row.fingerprint.equals(fingerprint)
      ? this.take(this.sql.takeOver, [...values, takeOverAbandoned], deadline)
      : toExistingRecord(row);
  }

  private async take(
    statement: string,
    values: unknown[],
    deadline: Deadline,
  ): Promise<LeaseClaimResult | undefined> {
    const { rows } = await this.connections.run<Omit<ClaimedLease, 'type'>>(
      statement,
      values,
      deadline.remaining,
    );
    return rows[0] && { type: 'claimed', ...rows[0] };
  }

  private async isCompletedBy({ id, owner, timeLimit }: LeaseHold): Promise<boolean> {
    return (await this.count(this.sql.isCompletedBy, [id, owner], timeLimit)) === 1;
  }

  private async row(id: Buffer, timeLimit: number): Promise<RecordRow | undefined> {
    return (await this.connections.run<RecordRow>(this.sql.lookUp, [id], timeLimit)).rows[0];
  }

  private async count(sql: string, values: unknown[], timeLimit: number): Promise<number | null> {
    return (await this.connections.run(sql, values, timeLimit)).rowCount;
  }
}
