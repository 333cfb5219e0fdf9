import { IdempotencyModule, IdempotencyRecord, IdempotencyService, Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Body, ConflictException, Controller, Injectable, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, Repository, type DataSourceOptions } from 'typeorm';
import {
  addTransactionalDataSource,
  deleteDataSourceByName,
  initializeTransactionalContext,
  Propagation,
  runOnTransactionCommit,
  Transactional,
} from 'typeorm-transactional';

import { onEachAdapter } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Effect } from '../support/effect.entity.js';
import { send } from '../support/http.js';
import { newKey, userScope } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';

/** Where a request is to fail, if it is. */
type Failure = 'inside' | 'outside' | undefined;

/** What the hooks of either library were called for. */
let calls: string[] = [];

function refuse(): never {
  throw new ConflictException();
}

@Injectable()
class OrdersService {
  constructor(
    @InjectRepository(Effect) private readonly effects: Repository<Effect>,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Transactional()
  async save(failure: Failure): Promise<void> {
    runOnTransactionCommit(() => calls.push('runOnTransactionCommit'));
    this.idempotency.context!.afterCommit(() => calls.push('afterCommit'));
    await this.effects.save({ name: 'first' });
    await this.effects.save({ name: 'second' });
    if (failure === 'inside') refuse();
  }

  @Transactional({ propagation: Propagation.REQUIRES_NEW })
  async audit(): Promise<void> {
    await this.effects.save({ name: 'audited' });
  }
}

@Controller()
class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  @Idempotent()
  async create(@Body() { failure }: { failure?: Failure }): Promise<string> {
    await this.orders.audit();
    await this.orders.save(failure).catch((error: unknown) => {
      if (failure !== 'inside') throw error;
    });
    if (failure === 'outside') refuse();
    return 'saved';
  }
}

initializeTransactionalContext();

onEachAdapter((adapter) => {
  let database: TestDatabase;
  let app: TestApp;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    const options = {
      type: 'postgres',
      url: database.url,
      entities: [IdempotencyRecord, Effect],
      synchronize: true,
    } satisfies DataSourceOptions;
    app = await startApp({
      adapter,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => options,
          dataSourceFactory: async () => addTransactionalDataSource(new DataSource(options)),
        }),
        TypeOrmModule.forFeature([Effect]),
        IdempotencyModule.forRoot({ scope: userScope }),
      ],
      controllers: [OrdersController],
      providers: [OrdersService],
    });
    dataSource = app.app.get(DataSource);
  });
  afterAll(async () => {
    await app.close();
    deleteDataSourceByName('default');
    await database.drop();
  });
  beforeEach(async () => {
    calls = [];
    await dataSource.getRepository(Effect).clear();
  });

  /** Sends it twice. @returns the status, and what is in the database afterwards */
  async function create(failure: Failure): Promise<{ status: number; names: string[] }> {
    const request = { headers: { 'Idempotency-Key': newKey() }, body: { failure } };
    const first = await send(app.url, request);
    expectReplay(await send(app.url, request), first);
    const effects = await dataSource.getRepository(Effect).find({ order: { id: 'ASC' } });
    return { status: first.status, names: effects.map(({ name }) => name) };
  }

  it('what @Transactional() methods write is committed with the answer', async () => {
    expect(await create(undefined)).toEqual({ status: 201, names: ['audited', 'first', 'second'] });
    expect(calls).toEqual(['runOnTransactionCommit', 'afterCommit']);
  });

  it('one that fails and is caught is undone by itself', async () => {
    expect(await create('inside')).toEqual({ status: 201, names: ['audited'] });
  });

  it('nothing of them stays where the request fails, also of REQUIRES_NEW; of the hooks only afterCommit() knows', async () => {
    expect(await create('outside')).toEqual({ status: 409, names: [] });
    expect(calls).toEqual(['runOnTransactionCommit']);
  });
});
