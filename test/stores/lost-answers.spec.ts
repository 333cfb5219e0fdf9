import { IdempotencyRecord, type IdempotencyStore, MariaDbIdempotencyStore } from '@exactly-once/nestjs';
import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';

import { SHARED, SINGLE } from '../../libs/idempotency/src/batching/batch-queue.js';
import { PostgresLeaseStore } from '../../libs/idempotency/src/typeorm/postgres-lease.store.js';
import { isWrite, MariaDbServer } from '../mariadb/mariadb-server.js';
import { describeWithMariaDb } from '../mariadb/with-mariadb.js';
import { RedisServer } from '../redis/redis-server.js';
import { describeWithRedis } from '../redis/with-redis.js';
import { AnswerLosingProxy } from '../support/answer-losing-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let proxy: AnswerLosingProxy;

/** The cases of the contract in which the connection is broken between a write and its answer. */
function defineCases(openStore: () => IdempotencyStore): void {
  const cases = idempotencyStoreContract(openStore, { loseNextAnswer: () => proxy.loseNextAnswer() });
  const lossy = cases.slice(idempotencyStoreContract(openStore).length);

  for (const { name, run } of lossy) it(name, run);
  it('there is one for each write of an attempt', () => expect(lossy).toHaveLength(5));
}

describe.each([
  ['a statement for each operation', SINGLE],
  ['statements that concurrent operations share', SHARED],
])('on Postgres, %s', (_, limits) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = await AnswerLosingProxy.start(Number(url.port || 5432));
    url.hostname = '127.0.0.1';
    url.port = `${proxy.port}`;
    dataSource = await new DataSource({
      type: 'postgres',
      url: url.href,
      entities: [IdempotencyRecord],
      poolSize: 4,
    }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await proxy.close();
    await database.drop();
  });

  const logger = { warn: () => undefined, error: () => undefined };
  defineCases(() => new PostgresLeaseStore(dataSource.getRepository(IdempotencyRecord), logger, limits));
});

describeWithRedis('on Redis', () => {
  let server: RedisServer;
  let store: RedisIdempotencyStore;

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await AnswerLosingProxy.start(server.port);
    store = new RedisIdempotencyStore(`redis://127.0.0.1:${proxy.port}`);
    await store.open();
  });
  afterAll(async () => {
    await store.close();
    await proxy.close();
    await server.stop();
  });

  defineCases(() => store);
});

describeWithMariaDb('on MariaDB', () => {
  let server: MariaDbServer;
  let dataSource: DataSource;

  beforeAll(async () => {
    server = await MariaDbServer.start();
    proxy = await AnswerLosingProxy.start(server.port, isWrite);
    dataSource = await server.connect({ port: proxy.port });
  }, 60_000);
  afterAll(async () => {
    await dataSource?.destroy();
    await proxy.close();
    await server.stop();
  });

  defineCases(() => new MariaDbIdempotencyStore(dataSource));
});
