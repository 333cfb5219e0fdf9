import { IdempotencyKeyReusedError, IdempotencyRecordedFailureError } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TypeOrmModule } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Repository } from 'typeorm';

import {
  type Delivery,
  type InvoicePaid,
  InvoicePaidConsumer,
  LedgerEntry,
} from '../../docs/samples/invoice-paid.consumer.js';
import { eventually } from '../support/eventually.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

type Fate = ['acknowledged'] | ['again', delay: number | undefined] | ['aside', reason: unknown];

/** A queue with one message, which tells what its consumer made of a delivery. */
class FakeQueue {
  readonly id = randomUUID();

  constructor(private readonly consumer: InvoicePaidConsumer) {}

  async deliver(body: InvoicePaid): Promise<Fate> {
    let fate: Fate | undefined;
    const delivery: Delivery<InvoicePaid> = {
      id: this.id,
      body,
      acknowledge: async () => void (fate = ['acknowledged']),
      deliverAgain: async (delay) => void (fate = ['again', delay]),
      setAside: async (reason) => void (fate = ['aside', reason]),
    };
    await this.consumer.receive(delivery);
    return fate!;
  }
}

/** How many statements wait for a lock. */
async function waiting({ dataSource }: IdempotentApp): Promise<number> {
  const statements = await dataSource.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return statements.length;
}

describe('docs/samples/invoice-paid.consumer.ts', () => {
  const invoice = { invoice: '2026-17', amount: 100 };
  let app: IdempotentApp;
  let ledger: Repository<LedgerEntry>;
  let queue: FakeQueue;

  beforeAll(async () => {
    app = await startIdempotentApp({
      adapter: 'express',
      providers: [InvoicePaidConsumer],
      imports: [TypeOrmModule.forFeature([LedgerEntry])],
      entities: [LedgerEntry],
    });
    ledger = app.dataSource.getRepository(LedgerEntry);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    queue = new FakeQueue(app.app.get(InvoicePaidConsumer));
    await ledger.clear();
    await app.records.clear();
  });

  it('books a message once that is delivered three times', async () => {
    const fates = [await queue.deliver(invoice), await queue.deliver(invoice), await queue.deliver(invoice)];

    expect(fates).toEqual([['acknowledged'], ['acknowledged'], ['acknowledged']]);
    expect(await ledger.find()).toMatchObject([invoice]);
    const [record] = await app.records.find();
    expect(record).toMatchObject({ scope: 'billing', operation: 'invoice-paid', key: queue.id });
    expect(record!.expiresAt.getTime() - Date.now()).toBeGreaterThan(13 * 86_400_000);
  });

  it('puts a delivery off that comes while another one is worked on', async () => {
    const blocker = new Client({ connectionString: app.database.url });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE ledger_entries IN ACCESS EXCLUSIVE MODE');
    const first = queue.deliver(invoice);
    await eventually(async () => expect(await waiting(app)).toBe(1));
    const meanwhile = await queue.deliver(invoice);
    await blocker.end();

    expect(meanwhile).toEqual(['again', 1_000]);
    expect(await first).toEqual(['acknowledged']);
    expect(await queue.deliver(invoice)).toEqual(['acknowledged']);
    expect(await ledger.count()).toBe(1);
  });

  it('books at the next delivery what has failed by an accident', async () => {
    await app.dataSource.query('ALTER TABLE ledger_entries RENAME TO ledger_entries_away');
    const failed = await queue.deliver(invoice);
    await app.dataSource.query('ALTER TABLE ledger_entries_away RENAME TO ledger_entries');

    expect(failed).toEqual(['again', undefined]);
    expect(await queue.deliver(invoice)).toEqual(['acknowledged']);
    expect(await ledger.count()).toBe(1);
  });

  it('sets a message aside whose refusal is recorded', async () => {
    const nothing = { ...invoice, amount: 0 };
    const first = await queue.deliver(nothing);
    const second = await queue.deliver(nothing);

    expect(first).toEqual(['again', undefined]);
    expect(second).toEqual(['aside', expect.any(IdempotencyRecordedFailureError)]);
    expect(second).toMatchObject(['aside', { status: 422, originalMessage: 'Nothing was paid.' }]);
    expect(await ledger.count()).toBe(0);
  });

  it('sets a message aside that comes with another content', async () => {
    await queue.deliver(invoice);
    const other = await queue.deliver({ ...invoice, amount: 200 });

    expect(other).toEqual(['aside', expect.any(IdempotencyKeyReusedError)]);
    expect(await ledger.find()).toMatchObject([invoice]);
  });
});
