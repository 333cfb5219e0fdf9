import { IdempotencyError, IdempotencyRecordedFailureError, IdempotencyService } from '@exactly-once/nestjs';
import { Injectable, UnprocessableEntityException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';

@Entity({ name: 'ledger_entries' })
export class LedgerEntry {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id: number;

  @Column({ type: 'text' })
  invoice: string;

  @Column({ type: 'integer' })
  amount: number;
}

export interface InvoicePaid {
  invoice: string;
  amount: number;
}

/** What a queue hands over, and hands over again until it is acknowledged or set aside. */
export interface Delivery<T> {
  /** The same in every delivery of one message. */
  readonly id: string;
  readonly body: T;
  acknowledge(): Promise<void>;
  /** @param delay milliseconds; the queue's own where it is left out */
  deliverAgain(delay?: number): Promise<void>;
  /** Puts it where somebody looks: the dead letters. */
  setAside(reason: unknown): Promise<void>;
}

@Injectable()
export class InvoicePaidConsumer {
  constructor(
    private readonly idempotency: IdempotencyService,
    @InjectRepository(LedgerEntry) private readonly ledger: Repository<LedgerEntry>,
  ) {}

  // #region consumer
  async receive(delivery: Delivery<InvoicePaid>): Promise<void> {
    const { id, body } = delivery;
    const request = { scope: 'billing', operation: 'invoice-paid', key: id, fingerprint: body };
    try {
      await this.idempotency.run(request, () => this.book(body), { ttl: '14d' });
    } catch (error) {
      return endsAlike(error) ? delivery.setAside(error) : delivery.deliverAgain(delayAfter(error));
    }
    return delivery.acknowledge();
  }

  private async book({ invoice, amount }: InvoicePaid): Promise<void> {
    if (amount <= 0) {
      throw new UnprocessableEntityException('Nothing was paid.');
    }
    await this.ledger.save({ invoice, amount });
  }
  // #endregion
}

// #region errors
/** Whether the next delivery would end in the same way. */
function endsAlike(error: unknown): boolean {
  return error instanceof IdempotencyError
    ? error.retryAfter === undefined
    : error instanceof IdempotencyRecordedFailureError;
}

function delayAfter(error: unknown): number | undefined {
  return error instanceof IdempotencyError ? error.retryAfter : undefined;
}
// #endregion
