import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  type Repository,
} from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';
import { markRowsWithTransaction, writers } from '../support/transaction-ids.js';

@Entity({ name: 'parcels' })
class Parcel {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id!: number;

  @Column({ type: 'text' })
  name!: string;

  @OneToMany(() => Item, ({ parcel }) => parcel, { cascade: true })
  items!: Item[];

  @OneToMany(() => Item, ({ returnedIn }) => returnedIn)
  returned!: Promise<Item[]>;
}

@Entity({ name: 'items' })
class Item {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id!: number;

  @Column({ type: 'text' })
  name!: string;

  @ManyToOne(() => Parcel, ({ items }) => items, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'parcel_id' })
  parcel!: Parcel;

  @ManyToOne(() => Parcel, ({ returned }) => returned, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'returned_in' })
  returnedIn!: Parcel;
}

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let parcels: Repository<Parcel>;
  let items: Repository<Item>;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, entities: [Parcel, Item] });
    parcels = app.dataSource.getRepository(Parcel);
    items = app.dataSource.getRepository(Item);
    await markRowsWithTransaction(app.dataSource);
  });
  afterAll(() => closeClean(app));
  beforeEach(async () => {
    await app.dataSource.query('TRUNCATE parcels, items, idempotency_records');
  });

  const parcel = { name: 'parcel', items: [{ name: 'pen' }, { name: 'paper' }] };

  it('a save that cascades commits all of its rows in one transaction with the record', async () => {
    const answer = await app.run(() => parcels.save(structuredClone(parcel)));
    const transactions = (await writers(app.dataSource)).map(({ transaction }) => transaction);

    expect(answer.status).toBe(201);
    expect(await items.count()).toBe(2);
    expect(transactions).toHaveLength(3);
    expect(new Set(transactions).size).toBe(1);
  });

  it('a save that cascades leaves none of its rows when the handler fails later', async () => {
    const key = newKey();
    const failed = await app.run(
      async () => {
        await parcels.save(structuredClone(parcel));
        throw new Error('out of luck');
      },
      { key },
    );
    const left = [await parcels.count(), await items.count(), await app.records.count()];
    const retried = await app.run(() => parcels.save(structuredClone(parcel)), { key });

    expect(failed.status).toBe(500);
    expect(left).toEqual([0, 0, 0]);
    expect(retried.status).toBe(201);
    expect([await parcels.count(), await items.count()]).toEqual([1, 2]);
  });

  it('relations see what the request wrote: lazy ones, joined ones and those loaded by queries of their own', async () => {
    const answer = await app.run(async () => {
      const { id } = await parcels.save(structuredClone(parcel));
      await items.save({ name: 'ink', returnedIn: { id } });
      const found = await parcels.findOneOrFail({ where: { id }, relations: { items: true } });
      const queried = await parcels.find({ relations: { items: true }, relationLoadStrategy: 'query' });
      const returned = await found.returned;
      return [found.items.length, queried[0]!.items.length, returned.map(({ name }) => name)];
    });

    expect(answer.json()).toEqual([2, 2, ['ink']]);
  });

  it('a lazy relation of what was loaded inside a nested transaction can be loaded when that is over', async () => {
    const answer = await app.run(async () => {
      const found = await app.dataSource.transaction(async (manager) => {
        const { id } = await manager.save(Parcel, structuredClone(parcel));
        await manager.save(Item, { name: 'ink', returnedIn: { id } });
        return manager.findOneByOrFail(Parcel, { id });
      });
      return (await found.returned).map(({ name }) => name);
    });

    expect(answer.json()).toEqual(['ink']);
  });

  it('a lazy relation can be loaded by work that goes on after the answer', async () => {
    let later: Promise<Item[]> | undefined;
    await app.run(async () => {
      const { id } = await parcels.save(structuredClone(parcel));
      await items.save({ name: 'ink', returnedIn: { id } });
      const found = await parcels.findOneByOrFail({ id });
      later = new Promise((resolve, reject) => {
        setTimeout(() => found.returned.then(resolve, reject), 200);
      });
      return {};
    });

    expect((await later)?.map(({ name }) => name)).toEqual(['ink']);
  });
});
