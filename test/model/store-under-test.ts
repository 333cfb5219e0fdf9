import { IdempotencyRecord } from '@exactly-once/nestjs';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';

import { recordId } from '../../libs/idempotency/src/engine/record-id.js';
import type { RecordedResponse } from '../../libs/idempotency/src/engine/stored-response.js';
import type { ExistingRecord } from '../../libs/idempotency/src/store/claim.js';
import type { LeaseClaimResult } from '../../libs/idempotency/src/store/idempotency-store.interface.js';
import { type BatchLimits } from '../../libs/idempotency/src/batching/batch-queue.js';
import { Connections } from '../../libs/idempotency/src/typeorm/connections.js';
import { PostgresLeaseStore } from '../../libs/idempotency/src/typeorm/postgres-lease.store.js';
import type { TestDatabase } from '../support/database.js';
import { applyMutant, type Mutant } from './mutants.js';
import { type Operation, RESPONSES, type ResponseName } from './operation.js';
import { TurnTakingClient } from './turn-taking-client.js';

/** So far away that only the operations of the model end leases and retentions. */
const LOCK_TTL = 3_600_000;
const TTL = 86_400_000;
const timeLimit = 60_000;

const PAST = `clock_timestamp() - interval '1 second'`;
const LAPSE_LEASE = `UPDATE idempotency_records SET lock_expires_at = ${PAST} WHERE id = $1`;
const END_RETENTION = `UPDATE idempotency_records SET expires_at = ${PAST}, purge_at = ${PAST} WHERE id = $1`;

/** The real store on a real database, in two processes: what they share is the table alone. */
export class StoreUnderTest {
  private run = '';

  private constructor(
    private readonly dataSource: DataSource,
    private readonly stores: PostgresLeaseStore[],
    private readonly connections = new Connections(dataSource),
  ) {}

  static async open(database: TestDatabase, batching: BatchLimits, mutant?: Mutant): Promise<StoreUnderTest> {
    const dataSource = await new DataSource({
      type: 'postgres',
      url: database.url,
      entities: [IdempotencyRecord],
      poolSize: 20,
      extra: { Client: TurnTakingClient, idleTimeoutMillis: 0 },
    }).initialize();
    const repository = dataSource.getRepository(IdempotencyRecord);
    const logger = { warn: () => undefined, error: () => undefined };
    const stores = [0, 1].map(() => new PostgresLeaseStore(repository, logger, batching));
    if (mutant) applyMutant(mutant, stores);
    // A connection that is first made while a schedule is played would be late for its turn.
    await Promise.all(Array.from({ length: 8 }, () => dataSource.query('SELECT pg_sleep(0.1)')));
    return new StoreUnderTest(dataSource, stores);
  }

  close(): Promise<void> {
    return this.dataSource.destroy();
  }

  /** Empties the table. The records of this run are other ones than those before. */
  async reset(): Promise<void> {
    this.run = randomUUID();
    await this.connections.query('DELETE FROM idempotency_records', [], timeLimit);
  }

  /** The processes that wait for a lock, of these. */
  async blocked(processes: number[]): Promise<number[]> {
    const { rows } = await this.connections.query(
      'SELECT pid FROM unnest($1::int[]) AS pid WHERE cardinality(pg_blocking_pids(pid)) > 0',
      [processes],
      timeLimit,
    );
    return rows.map(({ pid }) => pid);
  }

  /** What the store answers, as the model puts it. */
  async perform(operation: Operation, process: 0 | 1 = 0): Promise<unknown> {
    const store = this.stores[process]!;
    if (operation.type === 'purge') return store.purge(1_000, timeLimit);
    const identity = { scope: this.run, operation: 'POST /', key: operation.record };
    const id = recordId(identity);
    switch (operation.type) {
      case 'claim': {
        const { owner, takeOverAbandoned } = operation;
        const fingerprint = Buffer.alloc(32, operation.fingerprint);
        const limits = { lockTtl: LOCK_TTL, ttl: TTL, timeLimit };
        return existing(
          await store.claim({ ...identity, id, owner, fingerprint, takeOverAbandoned, ...limits }),
        );
      }
      case 'complete':
        return store.complete({ id, owner: operation.owner, timeLimit }, responseOf(operation.response), TTL);
      case 'release':
        return store.release({ id, owner: operation.owner, timeLimit });
      case 'renew':
        return store.renew({ id, owner: operation.owner, timeLimit }, LOCK_TTL);
      case 'recordSteps': {
        const { owner, steps, inTransaction } = operation;
        const hold = { id, owner, timeLimit };
        if (!inTransaction) return store.recordSteps(hold, steps);
        const step = { work: noWork, stepsAfter: () => steps, transactionTimeout: timeLimit };
        return (await store.recordStepsWith(hold, step)).recorded;
      }
      case 'releaseAbandoned':
        return store.releaseAbandoned(id, timeLimit);
      case 'find':
        return existing(await store.find(id, timeLimit));
      case 'inspect':
        return inspect(store, id);
      case 'lapseLease':
        await this.connections.query(LAPSE_LEASE, [id], timeLimit);
        return undefined;
      case 'endRetention':
        await this.connections.query(END_RETENTION, [id], timeLimit);
        return undefined;
    }
  }
}

async function inspect(store: PostgresLeaseStore, id: Buffer): Promise<unknown> {
  const inspection = await store.inspect(id, timeLimit);
  if (!inspection) return undefined;
  const { state, owner, attempt, steps, status } = inspection;
  return { state, owner, attempt, steps, status };
}

async function noWork(): Promise<void> {}

function responseOf(name: ResponseName): RecordedResponse {
  const status = RESPONSES[name];
  return status === null ? 'unavailable' : { status, headers: {}, body: Buffer.from(name) };
}

function existing(record: LeaseClaimResult | ExistingRecord | undefined): unknown {
  if (!record || record.type === 'claimed') return record;
  const { type, owner } = record;
  const fingerprint = record.fingerprint?.toString().charAt(0);
  if (record.type !== 'completed') return { type, owner, fingerprint };
  const { response } = record;
  return {
    type,
    owner,
    fingerprint,
    response: response === 'unavailable' ? response : response.body.toString(),
  };
}
