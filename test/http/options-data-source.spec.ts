import { Idempotent, IdempotencyModule, IdempotencyRecord } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, HttpException, Post } from '@nestjs/common';
import { getDataSourceToken, InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Effect } from '../support/effect.entity.js';
import { send } from '../support/http.js';
import { newKey } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';

/** The server processes of two queries that run beside each other. */
async function processesOf(dataSource: DataSource): Promise<number[]> {
  const query = 'SELECT pg_backend_pid() AS pid';
  const results = await Promise.all([dataSource.query(query), dataSource.query(query)]);
  return results.map(([{ pid }]) => pid);
}

const recordsOf = (dataSource: DataSource) => dataSource.getRepository(IdempotencyRecord).count();

@Controller()
class OrdersController {
  constructor(
    @InjectRepository(Effect) readonly first: Repository<Effect>,
    @InjectRepository(Effect, 'second') readonly second: Repository<Effect>,
    @InjectDataSource() readonly firstSource: DataSource,
    @InjectDataSource('second') readonly secondSource: DataSource,
  ) {}

  @Post()
  @Idempotent()
  create() {
    return this.second.save({ name: 'order' });
  }

  @Post('failing')
  @Idempotent()
  async failing() {
    await this.first.save({ name: 'not part of it' });
    await this.second.save({ name: 'part of it' });
    throw new HttpException('out of luck', 500);
  }

  @Post('connections')
  @Idempotent()
  async connections() {
    return { first: await processesOf(this.firstSource), second: await processesOf(this.secondSource) };
  }
}

onEachAdapter((adapter) => {
  let databases: TestDatabase[];
  let app: TestApp;
  let first: DataSource;
  let second: DataSource;

  beforeAll(async () => {
    databases = [await createTestDatabase(), await createTestDatabase()];
    const entities = [IdempotencyRecord, Effect];
    const [one, two] = databases.map(
      ({ url }) => ({ type: 'postgres', url, entities, synchronize: true }) as const,
    );
    app = await startApp({
      adapter,
      imports: [
        TypeOrmModule.forRoot({ ...one!, retryAttempts: 0 }),
        TypeOrmModule.forRoot({ ...two!, name: 'second', retryAttempts: 0 }),
        TypeOrmModule.forFeature([Effect]),
        TypeOrmModule.forFeature([Effect], 'second'),
        IdempotencyModule.forRoot({ scope: false, dataSource: 'second' }),
      ],
      controllers: [OrdersController],
    });
    first = app.app.get(DataSource);
    second = app.app.get(getDataSourceToken('second'));
  });
  afterAll(async () => {
    await app.close();
    await Promise.all(databases.map((database) => database.drop()));
  });

  const post = (path: string, key = newKey()) =>
    send(app.url, { path, headers: { 'Idempotency-Key': key }, body: {} });

  it('dataSource: the records are in the one that is named, and in no other', async () => {
    const key = newKey();
    const answer = await post('/', key);

    expect(answer.status).toBe(201);
    expectReplay(await post('/', key), answer);
    expect(await recordsOf(second)).toBe(1);
    expect(await recordsOf(first)).toBe(0);
    expect(await second.getRepository(Effect).countBy({ name: 'order' })).toBe(1);
  });

  it('dataSource: only the one that is named takes part in the transaction of a request', async () => {
    expect((await post('/failing')).status).toBe(500);

    expect(await second.getRepository(Effect).countBy({ name: 'part of it' })).toBe(0);
    expect(await first.getRepository(Effect).countBy({ name: 'not part of it' })).toBe(1);
  });

  it('dataSource: only the one that is named has one connection per request', async () => {
    const pids = (await post('/connections')).json();

    expect(new Set(pids.second).size).toBe(1);
    expect(new Set(pids.first).size).toBe(2);
  });
});
