import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryResult } from 'pg';
import type { QueryRunner, Repository } from 'typeorm';
import { Deadline } from '../engine/time-limit.js';
import type { EngineLogger } from '../engine/engine-logger.js';
import type {
  TransactionClaim,
  TransactionClaimResult,
  TransactionStore,
} from '../store/transaction-store.interface.js';
import { AmbientTransaction } from './ambient/ambient-transaction.js';
import type { BatchLimits } from '../batching/batch-queue.js';
import { KnownRecords } from './known-records.js';
import { makeAmbient } from './ambient/make-ambient.js';
import { type Connection, Connections, limited } from './connections.js';
import type { IdempotencyRecord } from './idempotency-record.entity.js';
import { PooledTransaction } from './pooled-transaction.js';
import { retryTransient } from './postgres-errors.js';
import { PostgresTransaction } from './postgres-transaction.js';
import { type RecordRow, toExistingRecord } from './record-row.js';
import { recordTable, type RecordTable } from './record-table.js';
import {
  begin,
  BEGIN_RESULTS,
  type Found,
  lookUpAndRollBack,
  removeExpired,
  type TransactionSettings,
  type TransactionStart,
} from './transaction-statements.js';
import { TransactionFate } from './transaction-fate.js';
import { dataSourceOf } from './typeorm-versions.js';

/** A finished transaction releases its locks one by one; this is far longer than that takes. */
const BETWEEN_LOOKS_AT_LOCKS = 20;

/** `transaction` mode on Postgres: advisory locks tell who is in flight, and the record commits with the effect. */
export class PostgresTransactionStore implements TransactionStore {
  private readonly table: RecordTable;
  private readonly connections: Connections;
  private readonly ownRunner: () => QueryRunner;
  private readonly known: KnownRecords;

  constructor(
    repository: Repository<IdempotencyRecord>,
    private readonly logger: EngineLogger,
    limits: BatchLimits,
  ) {
    const dataSource = dataSourceOf(repository.manager);
    this.table = recordTable(repository.metadata);
    this.connections = new Connections(dataSource);
    this.ownRunner = makeAmbient(dataSource);
    this.known = new KnownRecords(this.table, this.connections.run, limits);
  }

  async begin(claim: TransactionClaim): Promise<TransactionClaimResult> {
    const deadline = new Deadline(claim.timeLimit);
    const known = await this.known.find(claim.id, deadline);
    if (known) {
      return known;
    }
    const first = await retryTransient(() => this.tryBegin(claim, deadline));
    if (first !== 'other-in-flight') {
      return first;
    }
    // Either another request has the key, or its transaction ended between our two locks.
    await sleep(BETWEEN_LOOKS_AT_LOCKS);
    const second = await retryTransient(() => this.tryBegin(claim, deadline));
    return second === 'other-in-flight'
      ? { type: 'in-flight', fingerprint: undefined, owner: undefined }
      : second;
  }

  private async tryBegin(
    claim: TransactionClaim,
    deadline: Deadline,
  ): Promise<TransactionClaimResult | 'other-in-flight'> {
    for (;;) {
      const connection = await this.connections.acquire(deadline);
      try {
        const outcome = await this.beginOn(connection, claim, deadline);
        if (outcome !== 'vanished') {
          return outcome;
        }
      } catch (error) {
        // Whatever has failed here, a connection in an unknown state is not used again.
        connection.destroy(error);
        throw error;
      }
    }
  }

  /** @returns `vanished` where a record was there, and was gone when it was to be read */
  private async beginOn(
    connection: Connection,
    claim: TransactionClaim,
    deadline: Deadline,
  ): Promise<TransactionClaimResult | 'other-in-flight' | 'vanished'> {
    const results = await this.send(connection, begin(this.table, claim), deadline.remaining);
    const start = results[BEGIN_RESULTS.settings]!.rows[0] as TransactionStart;
    const found = results[BEGIN_RESULTS.found]!.rows[0] as Found | undefined;
    if (start.lock === 'claimed' && (!found || found.expired)) {
      if (found) {
        await this.send(connection, removeExpired(this.table, claim.id), deadline.remaining);
      }
      return { type: 'claimed', transaction: this.open(claim, connection, start) };
    }
    const end = found ? lookUpAndRollBack(this.table, claim.id) : 'ROLLBACK';
    const [lookedUp] = await this.send(connection, end, deadline.remaining);
    connection.release();
    const record = toExistingRecord(lookedUp!.rows[0] as RecordRow | undefined);
    if (record?.type === 'completed') {
      this.known.remember(claim.id);
    }
    // A committed record says more than a lock, which another reader of it may hold.
    if (record) {
      return record;
    }
    if (start.lock === 'same-in-flight') {
      return { type: 'in-flight', fingerprint: claim.fingerprint, owner: undefined };
    }
    return start.lock === 'claimed' ? 'vanished' : 'other-in-flight';
  }

  private open(
    claim: TransactionClaim,
    connection: Connection,
    { isolation, backend }: TransactionSettings,
  ): PostgresTransaction {
    const ambient = new AmbientTransaction(
      connection.client,
      this.connections.dataSource,
      isolation,
      backend,
      this.ownRunner,
    );
    const fate = new TransactionFate(this.connections, this.table, claim);
    const endBackend = (process: number): Promise<void> => fate.endBackend(process);
    const transaction = new PooledTransaction(connection, ambient, claim, endBackend, this.logger);
    return new PostgresTransaction(transaction, this.table, claim, fate, this.known);
  }

  /** @returns one result for each statement of the message */
  private async send({ client }: Connection, sql: string, timeLimit: number): Promise<QueryResult[]> {
    const results: QueryResult | QueryResult[] = await client.query(limited(sql, timeLimit));
    return Array.isArray(results) ? results : [results];
  }
}
