import { IdempotencyService, type IdempotentContext } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { InjectDataSource, InjectRepository } from '@nestjs/typeorm';
import { DataSource, EntityManager, Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { Effect } from '../support/effect.entity.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';
import { markRowsWithTransaction, writers } from '../support/transaction-ids.js';

@Injectable()
class CustomRepository extends Repository<Effect> {
  constructor(dataSource: DataSource) {
    super(Effect, dataSource.createEntityManager());
  }
}

@Injectable()
class EffectsService {
  constructor(
    @InjectRepository(Effect) readonly repository: Repository<Effect>,
    @InjectDataSource() readonly dataSource: DataSource,
    readonly custom: CustomRepository,
    readonly idempotency: IdempotencyService,
  ) {}
}

const effect = { name: 'written' };
const insertSql = `INSERT INTO effects (name) VALUES ('written')`;

type Write = (service: EffectsService, context: IdempotentContext) => Promise<unknown>;

/** Each inserts one row, by another path through TypeORM. */
const WRITES: Record<string, Write> = {
  'an injected repository': ({ repository }) => repository.save(effect),
  'insert() of a repository': ({ repository }) => repository.insert(effect),
  'upsert() of a repository': ({ repository }) => repository.upsert(effect, ['id']),
  'a repository of the DataSource': ({ dataSource }) => dataSource.getRepository(Effect).save(effect),
  'an extended repository': ({ repository }) =>
    repository
      .extend({
        add(this: Repository<Effect>) {
          return this.save(effect);
        },
      })
      .add(),
  'a class that extends Repository': ({ custom }) => custom.save(effect),
  'a transaction of a class that extends Repository': ({ custom }) =>
    custom.manager.transaction((manager) => manager.save(Effect, effect)),
  'an injected repository in a transaction of a class that extends Repository': ({ custom, repository }) =>
    custom.manager.transaction(() => repository.save(effect)),
  'the manager of the DataSource': ({ dataSource }) => dataSource.manager.save(Effect, effect),
  'the manager of a repository': ({ repository }) => repository.manager.insert(Effect, effect),
  'manager.transaction()': ({ repository }) =>
    repository.manager.transaction((manager) => manager.save(Effect, effect)),
  'dataSource.transaction()': ({ dataSource }) =>
    dataSource.transaction((manager) => manager.getRepository(Effect).save(effect)),
  'dataSource.transaction() whose manager is left unused': ({ dataSource, repository }) =>
    dataSource.transaction(() => repository.save(effect)),
  'dataSource.transaction() with an isolation level': ({ dataSource }) =>
    dataSource.transaction('READ COMMITTED', (manager) => manager.save(Effect, effect)),
  'transactions, two levels deep': ({ dataSource }) =>
    dataSource.transaction((outer) => outer.transaction((inner) => inner.save(Effect, effect))),
  'an insert query builder': ({ dataSource }) =>
    dataSource.createQueryBuilder().insert().into(Effect).values(effect).execute(),
  'a query builder of a repository': ({ repository }) =>
    repository.createQueryBuilder().insert().values(effect).execute(),
  'dataSource.query()': ({ dataSource }) => dataSource.query(insertSql),
  'manager.query()': ({ dataSource }) => dataSource.manager.query(insertSql),
  'dataSource.sql``': ({ dataSource }) => dataSource.sql`INSERT INTO effects (name) VALUES (${effect.name})`,
  'a query runner without a transaction': async ({ dataSource }) => {
    const runner = dataSource.createQueryRunner();
    await runner.query(insertSql);
    await runner.release();
  },
  'a query runner with a transaction of its own': async ({ dataSource }) => {
    const runner = dataSource.createQueryRunner();
    await runner.connect();
    await runner.startTransaction();
    try {
      await runner.manager.save(Effect, effect);
      await runner.commitTransaction();
    } catch (error) {
      await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
    }
  },
  'the manager of @IdempotencyContext()': (_, { manager }) => (manager as EntityManager).save(Effect, effect),
  'a transaction of the manager of @IdempotencyContext()': (_, { manager }) =>
    (manager as EntityManager).transaction((inner) => inner.save(Effect, effect)),
  'the manager of IdempotencyService.context': ({ idempotency }) =>
    (idempotency.context!.manager as EntityManager).save(Effect, effect),
};

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let service: EffectsService;

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, providers: [CustomRepository, EffectsService] });
    service = app.app.get(EffectsService);
    await markRowsWithTransaction(app.dataSource);
  });
  afterAll(() => closeClean(app));
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  describe.each(Object.entries(WRITES))('%s', (_, write) => {
    it('commits in one transaction with the record', async () => {
      const answer = await app.run(async ({ context }) => {
        await write(service, context);
        await service.repository.save({ name: 'beside' });
      });
      const transactions = (await writers(app.dataSource)).map(({ transaction }) => transaction);

      expect(answer.status).toBe(201);
      expect(await app.effects.find({ order: { name: 'ASC' }, select: { name: true } })).toEqual([
        { name: 'beside' },
        { name: 'written' },
      ]);
      expect(await app.records.count()).toBe(1);
      expect(transactions).toEqual([transactions[0], transactions[0]]);
    });

    it('leaves nothing behind when the handler fails later, and a retry executes', async () => {
      const key = newKey();
      const failed = await app.run(
        async ({ context }) => {
          await write(service, context);
          throw new Error('out of luck');
        },
        { key },
      );
      const left = [await app.effects.count(), await app.records.count()];
      const retried = await app.run(({ context }) => write(service, context), { key });

      expect(failed.status).toBe(500);
      expect(left).toEqual([0, 0]);
      expect(retried.status).toBe(201);
      expect(await app.effects.count()).toBe(1);
    });
  });
});
