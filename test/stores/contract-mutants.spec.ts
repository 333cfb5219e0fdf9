import {
  AtomicRecordStore,
  type ClaimTarget,
  type LeaseClaim,
  type LeaseHold,
  NOBODY,
  type RecordChange,
  type RecordedResponse,
  type StoredRecord,
} from '@exactly-once/nestjs';
import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { failuresOf } from '../testing-kit/failures-of.js';

/** A store as somebody may write it, right by itself: each mutant below has one fault. */
class MapStore extends AtomicRecordStore {
  protected readonly records = new Map<string, StoredRecord>();
  private ahead = 0;

  moveClock(milliseconds: number): void {
    this.ahead += milliseconds;
  }

  async purge(limit: number): Promise<number> {
    const expired = [...this.records].filter(([, record]) => this.isExpired(record)).slice(0, limit);
    expired.forEach(([place]) => this.records.delete(place));
    return expired.length;
  }

  protected async change<T>(id: Buffer, change: RecordChange<T>): Promise<T> {
    for (;;) {
      const found = await this.read(id);
      const { record, result } = change(found, this.now());
      if (record === found || (await this.compareAndSet(id, found, record))) return result;
    }
  }

  protected async read(id: Buffer): Promise<StoredRecord | undefined> {
    await nextTurn();
    return this.records.get(id.toString('hex'));
  }

  protected async compareAndSet(id: Buffer, found?: StoredRecord, record?: StoredRecord): Promise<boolean> {
    await nextTurn();
    if (this.records.get(id.toString('hex')) !== found) return false;
    this.set(id, record);
    return true;
  }

  protected set(id: Buffer, record: StoredRecord | undefined): void {
    if (record) this.records.set(id.toString('hex'), record);
    else this.records.delete(id.toString('hex'));
  }

  protected now(): number {
    return Date.now() + this.ahead;
  }

  protected isExpired({ expiresAt, lockExpiresAt }: StoredRecord): boolean {
    return Math.max(expiresAt, lockExpiresAt) <= this.now();
  }
}

class WritesWithoutComparing extends MapStore {
  protected override async compareAndSet(id: Buffer, _: unknown, record?: StoredRecord): Promise<boolean> {
    await nextTurn();
    this.set(id, record);
    return true;
  }
}

class GivesUpAfterALostRace extends MapStore {
  protected override async change<T>(id: Buffer, change: RecordChange<T>): Promise<T> {
    const found = await this.read(id);
    const { record, result } = change(found, this.now());
    if (record !== found) await this.compareAndSet(id, found, record);
    return result;
  }
}

class RemovesWithoutComparing extends MapStore {
  protected override async compareAndSet(id: Buffer, found?: StoredRecord, record?: StoredRecord) {
    if (record) return super.compareAndSet(id, found, record);
    await nextTurn();
    await nextTurn();
    this.set(id, undefined);
    return true;
  }
}

class IgnoresTheOwner extends MapStore {
  override async complete(hold: LeaseHold, response: RecordedResponse, ttl: number): Promise<boolean> {
    const owner = (await this.read(hold.id))?.owner ?? hold.owner;
    return super.complete({ ...hold, owner }, response, ttl);
  }
}

class RenewsForAnyone extends MapStore {
  override async renew(hold: LeaseHold, lockTtl: number): Promise<boolean> {
    const owner = (await this.read(hold.id))?.owner ?? hold.owner;
    return super.renew({ ...hold, owner }, lockTtl);
  }
}

class ForgetsStepsOnTakeOver extends MapStore {
  protected override set(id: Buffer, record: StoredRecord | undefined): void {
    const before = this.records.get(id.toString('hex'));
    super.set(id, record && before && before.owner !== record.owner ? { ...record, steps: null } : record);
  }
}

class ForgetsStepsOnRelease extends MapStore {
  protected override set(id: Buffer, record: StoredRecord | undefined): void {
    super.set(id, record?.owner === NOBODY ? undefined : record);
  }
}

class KeepsOneRecordPerKeyInAnyCase extends MapStore {
  override claim(claim: LeaseClaim) {
    const target: ClaimTarget = { ...claim, id: Buffer.from(claim.key.toLowerCase().padEnd(32)) };
    return super.claim({ ...claim, ...target });
  }
}

class KeepsBodiesAsText extends MapStore {
  protected override set(id: Buffer, record: StoredRecord | undefined): void {
    const response = record?.response;
    const isText = response && response !== 'unavailable';
    const body = isText ? Buffer.from(response.body.toString('utf8')) : undefined;
    super.set(id, isText && body ? { ...record, response: { ...response, body } } : record);
  }
}

class EndsRetentionUnderALiveLease extends MapStore {
  protected override async read(id: Buffer): Promise<StoredRecord | undefined> {
    const record = await super.read(id);
    return record && record.expiresAt <= this.now() ? undefined : record;
  }
  protected override async compareAndSet(id: Buffer, found?: StoredRecord, record?: StoredRecord) {
    return super.compareAndSet(id, found ?? this.records.get(id.toString('hex')), record);
  }
}

class RefusesFractions extends MapStore {
  override async renew(hold: LeaseHold, lockTtl: number): Promise<boolean> {
    if (!Number.isInteger(lockTtl)) throw new Error('no whole number');
    return super.renew(hold, lockTtl);
  }
}

class TakesNoNumberForZero extends MapStore {
  override claim(claim: LeaseClaim) {
    return super.claim({ ...claim, lockTtl: claim.lockTtl || 0 });
  }
}

class PurgesByTheLease extends MapStore {
  protected override isExpired({ lockExpiresAt }: StoredRecord): boolean {
    return lockExpiresAt <= this.now();
  }
}

class PurgesByTheRetention extends MapStore {
  protected override isExpired({ expiresAt }: StoredRecord): boolean {
    return expiresAt <= this.now();
  }
}

class PurgesNothing extends MapStore {
  override async purge(): Promise<number> {
    return 0;
  }
}

async function failures(Store: new () => MapStore): Promise<string[]> {
  const store = new Store();
  const passTime = async (milliseconds: number) => store.moveClock(milliseconds);
  return failuresOf(idempotencyStoreContract(() => store, { passTime }));
}

describe('the contract', () => {
  it('is kept by a store with a compare-and-set', async () => {
    expect(await failures(MapStore)).toEqual([]);
  });

  it.each<[string, new () => MapStore, RegExp]>([
    ['reads and then writes without comparing', WritesWithoutComparing, /race for a free record/],
    ['reports success after a lost race', GivesUpAfterALostRace, /race for a free record/],
    ['removes without comparing', RemovesWithoutComparing, /an operator who frees a record/],
    ['completes whatever the owner is', IgnoresTheOwner, /recorded for its owner alone/],
    ['renews whatever the owner is', RenewsForAnyone, /prolonged by its owner alone/],
    ['forgets the steps with a take-over', ForgetsStepsOnTakeOver, /steps go with the record/],
    ['forgets the steps with a release', ForgetsStepsOnRelease, /released with steps keeps them/],
    ['takes keys for one that differ in case', KeepsOneRecordPerKeyInAnyCase, /records are kept apart/],
    ['keeps bodies as text', KeepsBodiesAsText, /given back as it was recorded/],
    ['ends the retention under a live lease', EndsRetentionUnderALiveLease, /live lease keeps its record/],
    ['refuses fractions of a millisecond', RefusesFractions, /may have fractions/],
    ['takes what is no number for a lease', TakesNoNumberForZero, /no number is refused/],
    ['purges what is abandoned', PurgesByTheLease, /a purge/],
    ['purges what has a live lease', PurgesByTheRetention, /a purge/],
    ['purges nothing', PurgesNothing, /a purge/],
  ])('finds a store that %s', async (_, Store, expected) => {
    expect((await failures(Store)).join('\n')).toMatch(expected);
  });
});
