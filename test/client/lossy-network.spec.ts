import { idempotentFetch } from '@exactly-once/client';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';

import { ordersDataSourceOptions } from '../../apps/orders/src/database/data-source-options.js';
import { seedProducts } from '../../apps/orders/src/database/seed-products.js';
import { OrdersProcess } from '../e2e/orders-process.js';
import { FaultProxy, type Fault } from '../loss/fault-proxy.js';
import { onEachAdapter } from '../support/adapters.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const BODY = JSON.stringify({ items: [{ sku: 'KIBBLE-2KG', quantity: 1 }], currency: 'JPY' });
const ORDER = {
  method: 'POST',
  headers: { Authorization: 'Bearer demo-alice', 'Content-Type': 'application/json' },
  body: BODY,
};

/** The client, the sample app, and a network between them that has faults. */
onEachAdapter((adapter) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let server: OrdersProcess;
  let proxy: FaultProxy;
  let faults: Fault[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await new DataSource(ordersDataSourceOptions(database.url)).initialize();
    await dataSource.runMigrations();
    await seedProducts(dataSource);
    server = await OrdersProcess.start(adapter, { DATABASE_URL: database.url });
    proxy = await FaultProxy.start(
      () => server.url,
      () => faults.shift(),
    );
  });
  afterAll(async () => {
    await proxy.close();
    await server.child.kill();
    await dataSource.destroy();
    await database.drop();
  });

  const orders = async (): Promise<number> =>
    Number((await dataSource.query('SELECT count(*) FROM orders'))[0].count);
  const place = () =>
    idempotentFetch(`${proxy.url}/v1/orders`, ORDER, { baseDelay: 20, attemptTimeout: 1_000 });

  it.each<[string, Fault[], boolean]>([
    ['nothing is lost', [], false],
    ['requests are lost', ['drop-request', 'drop-request'], false],
    ['responses are lost', ['drop-response', 'drop-response'], true],
    ['an answer is torn', ['tear-response'], true],
    ['a gateway fails after the server has answered', ['bad-gateway'], true],
    ['an answer comes too late', [1_500], true],
    ['all of that happens', ['drop-request', 'drop-response', 'tear-response', 'bad-gateway'], true],
  ])('one order is made when %s', async (_, given, replayed) => {
    faults = [...given];
    const before = await orders();
    const response = await place();
    const body = (await response.json()) as { id: string };

    expect(response.status).toBe(201);
    expect(response).toMatchObject({ attempts: given.length + 1, replayed });
    expect(await orders()).toBe(before + 1);
    expect(await dataSource.query('SELECT id FROM orders WHERE id = $1', [body.id])).toHaveLength(1);
  });
});
