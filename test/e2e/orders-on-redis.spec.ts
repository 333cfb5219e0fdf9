import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';

import { ordersDataSourceOptions } from '../../apps/orders/src/database/data-source-options.js';
import { seedProducts } from '../../apps/orders/src/database/seed-products.js';
import { Gateway } from '../chaos/gateway.js';
import { Journal } from '../chaos/journal.js';
import { Random } from '../chaos/random.js';
import { DURABLE, RedisServer } from '../redis/redis-server.js';
import { describeWithRedis } from '../redis/with-redis.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { send, type HttpResponse } from '../support/http.js';
import { expectReplay } from '../support/replay.js';
import { OrdersProcess } from './orders-process.js';

// Starts several processes and waits for leases, on a machine that may have other things to do.
jest.setTimeout(90_000);

const KIBBLE = { items: [{ sku: 'KIBBLE-2KG', quantity: 1 }], currency: 'JPY' };
const LITTER = { items: [{ sku: 'LITTER-10L', quantity: 1 }], currency: 'JPY' };

/** Real processes of the sample application, whose records are in a real Redis. */
describeWithRedis('the sample application on Redis', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let redis: RedisServer;
  let gateway: Gateway;
  /** Nothing happens to it. */
  let steady: OrdersProcess;
  const started: OrdersProcess[] = [];

  const start = async (env?: NodeJS.ProcessEnv): Promise<OrdersProcess> => {
    const server = await OrdersProcess.start('express', {
      DATABASE_URL: database.url,
      IDEMPOTENCY_STORE: 'redis',
      REDIS_URL: redis.url,
      GATEWAY_URL: gateway.url,
      LOCK_TTL: '2s',
      ...env,
    });
    started.push(server);
    return server;
  };

  beforeAll(async () => {
    [database, redis] = await Promise.all([createTestDatabase(), RedisServer.start({ flags: DURABLE })]);
    dataSource = await new DataSource(ordersDataSourceOptions(database.url)).initialize();
    await dataSource.runMigrations();
    await seedProducts(dataSource);
    gateway = await Gateway.start(new Random(1, 'gateway'), new Journal());
    steady = await start();
  });
  afterAll(async () => {
    await Promise.all(started.map(({ child }) => child.kill()));
    await gateway.close();
    await redis.stop();
    await dataSource.destroy();
    await database.drop();
  });

  /** As a client does: with the same key, as long as it is told to come back. */
  const insist = async (path: string, key: string, body?: object): Promise<HttpResponse> => {
    for (;;) {
      const answer = await steady.post(path, key, body);
      if (!answer.headers['retry-after'] && answer.status < 500) return answer;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const place = async (): Promise<string> => (await steady.post('/orders', randomUUID(), KIBBLE)).json().id;
  const count = async (from: string): Promise<number> =>
    (await dataSource.query(`SELECT count(*)::int AS count FROM ${from}`))[0].count;
  const stockOf = async (sku: string): Promise<number> =>
    (await dataSource.query('SELECT stock FROM product WHERE sku = $1', [sku]))[0].stock;
  const records = () => redis.ask((client) => client.dbsize());
  const chargesOf = (id: string) => gateway.charges.filter(({ orderId }) => orderId === id);
  const isWaitingForLock = async () =>
    expect(
      await count(`pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`),
    ).toBe(1);

  it('keeps no record in Postgres, and answers an order that is sent twice with the same bytes', async () => {
    const key = randomUUID();
    const stock = await stockOf('KIBBLE-2KG');
    const first = await steady.post('/orders', key, KIBBLE);
    const second = await steady.post('/orders', key, KIBBLE);
    const other = await steady.post('/orders', key, LITTER);

    expect(first.status).toBe(201);
    expectReplay(second, first);
    expect(other.status).toBe(422);
    expect(await stockOf('KIBBLE-2KG')).toBe(stock - 1);
    expect(await count('idempotency_records')).toBe(0);
  });

  it('an order whose server is killed before its commit is placed by the retry', async () => {
    const server = await start();
    const [orders, stock] = [await count('orders'), await stockOf('KIBBLE-2KG')];
    const key = randomUUID();
    const blocker = dataSource.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query(`SELECT FROM product WHERE sku = 'KIBBLE-2KG' FOR UPDATE`);
    const lost = server.post('/orders', key, KIBBLE).catch(() => undefined);
    await eventually(isWaitingForLock);
    await server.child.kill();
    await blocker.rollbackTransaction();
    await blocker.release();

    expect((await insist('/orders', key, KIBBLE)).status).toBe(201);
    expect(await lost).toBeUndefined();
    expect(await count('orders')).toBe(orders + 1);
    expect(await stockOf('KIBBLE-2KG')).toBe(stock - 1);
  });

  it('an order whose server is killed between its commit and its record is not placed again, and answered as it was placed', async () => {
    const server = await start();
    const [orders, stock] = [await count('orders'), await stockOf('KIBBLE-2KG')];
    const key = randomUUID();
    const blocker = dataSource.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query(`SELECT FROM product WHERE sku = 'KIBBLE-2KG' FOR UPDATE`);
    const lost = server.post('/orders', key, KIBBLE).catch(() => undefined);
    await eventually(isWaitingForLock);
    // Killed and not stopped: what a stopped one is sent, it would read when it goes on.
    await redis.kill();
    await blocker.rollbackTransaction();
    await blocker.release();
    await eventually(async () => expect(await count('orders')).toBe(orders + 1));
    await server.child.kill();
    await redis.launch();
    const [placed] = await dataSource.query('SELECT id FROM orders ORDER BY created_at DESC LIMIT 1');
    // It moves on before its client hears of it.
    expect((await insist(`/orders/${placed.id}/pay`, randomUUID())).status).toBe(201);
    const answer = await insist('/orders', key, KIBBLE);

    expect(await lost).toBeUndefined();
    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({ id: placed.id, status: 'created' });
    expect(await count('orders')).toBe(orders + 1);
    expect(await stockOf('KIBBLE-2KG')).toBe(stock - 1);
  });

  it('a server that was stopped before it wrote anything changes nothing when it wakes up, neither what was placed nor what was refused', async () => {
    // Its one connection is in use, so its orders wait behind their claims and before their transactions.
    const sleeper = await start({ DB_POOL_SIZE: '1' });
    const [orders, before] = [await count('orders'), await records()];
    const [placedKey, refusedKey] = [randomUUID(), randomUUID()];
    const blocker = dataSource.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('LOCK TABLE product IN ACCESS EXCLUSIVE MODE');
    const headers = { Authorization: 'Bearer demo-alice' };
    const list = send(sleeper.url, { method: 'GET', path: '/v1/products', headers });
    await eventually(isWaitingForLock);
    const late = [sleeper.post('/orders', placedKey, KIBBLE), sleeper.post('/orders', refusedKey, LITTER)];
    await eventually(async () => expect(await records()).toBe(before + 2));
    sleeper.child.signal('SIGSTOP');
    await blocker.query(`UPDATE product SET stock = 0 WHERE sku = 'LITTER-10L'`);
    await blocker.commitTransaction();
    await blocker.release();
    const placed = await insist('/orders', placedKey, KIBBLE);
    const refused = await insist('/orders', refusedKey, LITTER);
    await dataSource.query(`UPDATE product SET stock = 100 WHERE sku = 'LITTER-10L'`);
    sleeper.child.signal('SIGCONT');
    const [latePlaced, lateRefused] = await Promise.all(late);

    expect((await list).status).toBe(200);
    expect(placed.status).toBe(201);
    expect(refused.status).toBe(409);
    expect(latePlaced!.text).toBe(placed.text);
    expect(lateRefused!.text).toBe(refused.text);
    expect(await count('orders')).toBe(orders + 1);
    expect(await stockOf('LITTER-10L')).toBe(100);
  });

  it('a payment whose server is killed while the gateway is charging is gone on with, and there is one charge', async () => {
    const server = await start();
    const id = await place();
    const key = randomUUID();
    const lost = server.post(`/orders/${id}/pay`, key).catch(() => undefined);
    await eventually(async () => expect(gateway.calls.some(({ orderId }) => orderId === id)).toBe(true));
    await server.child.kill();
    const answer = await insist(`/orders/${id}/pay`, key);

    expect(await lost).toBeUndefined();
    expect(answer.json()).toMatchObject({ status: 'paid' });
    expect(chargesOf(id)).toMatchObject([{ id: answer.json().chargeId }]);
    expectReplay(await steady.post(`/orders/${id}/pay`, key), answer);
  });

  it('a payment that wakes up when its order has been refunded charges nothing, and leaves the order as it is', async () => {
    const sleeper = await start();
    const id = await place();
    const key = randomUUID();
    const late = sleeper.post(`/orders/${id}/pay`, key);
    await eventually(async () => expect(gateway.calls.some(({ orderId }) => orderId === id)).toBe(true));
    sleeper.child.signal('SIGSTOP');
    const paid = await insist(`/orders/${id}/pay`, key);
    const refunded = await steady.post(`/orders/${id}/refund`, randomUUID());
    sleeper.child.signal('SIGCONT');

    expect((await late).text).toBe(paid.text);
    expect(refunded.json()).toMatchObject({ status: 'refunded' });
    expect(chargesOf(id)).toHaveLength(1);
    expect(await dataSource.query('SELECT status FROM orders WHERE id = $1', [id])).toEqual([
      { status: 'refunded' },
    ]);
  });

  it('when Redis has lost its records, a retry still gets the order that is there, and another order needs another key', async () => {
    const key = randomUUID();
    const first = await steady.post('/orders', key, KIBBLE);
    const orders = await count('orders');
    await redis.ask((client) => client.flushall());
    const other = await steady.post('/orders', key, LITTER);
    const second = await steady.post('/orders', key, KIBBLE);

    expect(other.status).toBe(422);
    expect(second.text).toBe(first.text);
    expect(await count('orders')).toBe(orders);
  });

  it('says so at /health and by 503 when Redis is away, and does nothing meanwhile', async () => {
    const orders = await count('orders');
    const health = () => send(steady.url, { method: 'GET', path: '/health' });
    expect((await health()).status).toBe(200);
    await redis.kill();
    const [unhealthy, refused] = await Promise.all([health(), steady.post('/orders', randomUUID(), KIBBLE)]);
    await redis.launch();

    expect(unhealthy.status).toBe(503);
    expect(refused.status).toBe(503);
    expect(await count('orders')).toBe(orders);
    await eventually(async () => expect((await health()).status).toBe(200));
  });
});
