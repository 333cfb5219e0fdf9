import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';

import { ordersDataSourceOptions } from '../../apps/orders/src/database/data-source-options.js';
import { seedProducts } from '../../apps/orders/src/database/seed-products.js';
import { Gateway } from '../chaos/gateway.js';
import { Journal } from '../chaos/journal.js';
import { Random } from '../chaos/random.js';
import { onEachAdapter } from '../support/adapters.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import type { HttpResponse } from '../support/http.js';
import { expectReplay } from '../support/replay.js';
import { OrdersProcess } from './orders-process.js';

const ORDER = { items: [{ sku: 'KIBBLE-2KG', quantity: 1 }], currency: 'JPY' };

/** As a client does: with the same key, as long as it is told to come back. */
async function pay(server: OrdersProcess, id: string, key: string, token?: string): Promise<HttpResponse> {
  let answer = await server.post(`/orders/${id}/pay`, key, undefined, token);
  while (answer.headers['retry-after'] || answer.status >= 500) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer = await server.post(`/orders/${id}/pay`, key, undefined, token);
  }
  return answer;
}

/** Real processes of the sample application, and a payment gateway that keeps books of its own. */
onEachAdapter((adapter) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let gateway: Gateway;
  let first: OrdersProcess;
  let second: OrdersProcess;

  const start = () =>
    OrdersProcess.start(adapter, {
      DATABASE_URL: database.url,
      GATEWAY_URL: gateway.url,
      LOCK_TTL: '2s',
    });

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await new DataSource(ordersDataSourceOptions(database.url)).initialize();
    await dataSource.runMigrations();
    await seedProducts(dataSource);
    gateway = await Gateway.start(new Random(1, 'gateway'), new Journal());
    [first, second] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all([first.child.kill(), second.child.kill()]);
    await gateway.close();
    await dataSource.destroy();
    await database.drop();
  });
  beforeEach(async () => {
    if (first.child.hasEnded) first = await start();
  });

  const placeOrder = async (token?: string): Promise<string> => {
    const answer = await first.post('/orders', randomUUID(), ORDER, token);
    expect(answer.status).toBe(201);
    return answer.json().id;
  };

  const stepsOf = async (key: string): Promise<string[]> => {
    const [record] = await dataSource.query('SELECT steps FROM idempotency_records WHERE key = $1', [key]);
    return Object.keys(JSON.parse(record?.steps ?? '{}'));
  };
  const callsOf = (id: string) => gateway.calls.filter(({ orderId }) => orderId === id).length;
  const chargesOf = (id: string) => gateway.charges.filter(({ orderId }) => orderId === id);

  it('a kill between two steps of a payment: the retry does not call the gateway again, and there is one charge', async () => {
    const id = await placeOrder();
    const key = randomUUID();
    const blocker = dataSource.createQueryRunner();
    // The payment can begin, and cannot end: whoever wants to write that it is paid has to wait.
    await dataSource.query(`CREATE OR REPLACE FUNCTION wait_for_gate() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NEW; END $$`);
    await dataSource.query(`CREATE OR REPLACE TRIGGER wait_for_gate BEFORE UPDATE ON orders FOR EACH ROW
      WHEN (NEW.status = 'paid') EXECUTE FUNCTION wait_for_gate()`);
    await blocker.query('SELECT pg_advisory_lock(42)');
    const lost = first.post(`/orders/${id}/pay`, key).catch(() => undefined);
    await eventually(async () => expect(await stepsOf(key)).toEqual(['begin', 'charge']));
    await first.child.kill();
    await blocker.query('SELECT pg_advisory_unlock(42)');
    await blocker.release();
    const answer = await pay(second, id, key);
    const replayed = await pay(second, id, key);

    expect(await lost).toBeUndefined();
    expect(answer.status).toBe(201);
    expect(callsOf(id)).toBe(1);
    expect(chargesOf(id)).toMatchObject([{ id: answer.json().chargeId }]);
    expectReplay(replayed, answer);
  });

  it('a kill while the gateway is charging: the retry asks it again with the same key, and there is one charge', async () => {
    const id = await placeOrder();
    const key = randomUUID();
    const lost = first.post(`/orders/${id}/pay`, key).catch(() => undefined);
    await eventually(async () => expect(callsOf(id)).toBe(1));
    await first.child.kill();
    const answer = await pay(second, id, key);

    expect(await lost).toBeUndefined();
    expect(answer.status).toBe(201);
    expect(new Set(gateway.calls.filter(({ orderId }) => orderId === id).map((call) => call.key)).size).toBe(
      1,
    );
    expect(chargesOf(id)).toMatchObject([{ id: answer.json().chargeId }]);
  });

  it('a gateway that fails: the client is told so, nobody else can pay meanwhile, and a retry goes on', async () => {
    const id = await placeOrder();
    const key = randomUUID();
    gateway.isDown = true;
    const failed = await first.post(`/orders/${id}/pay`, key);
    const other = await second.post(`/orders/${id}/pay`, randomUUID());
    gateway.isDown = false;
    const answer = await second.post(`/orders/${id}/pay`, key);

    expect(failed.status).toBe(500);
    expect(other.status).toBe(409);
    expect(answer.status).toBe(201);
    expect(chargesOf(id)).toMatchObject([{ id: answer.json().chargeId }]);
  });

  it('a key that a client uses again after its retention, for another order, pays that one', async () => {
    const [one, other] = [await placeOrder(), await placeOrder()];
    const key = randomUUID();
    await pay(first, one, key);
    await dataSource.query('DELETE FROM idempotency_records WHERE key = $1', [key]);
    const paid = await pay(first, other, key);

    expect(paid.json()).toMatchObject({ status: 'paid' });
    expect(chargesOf(one)).toHaveLength(1);
    expect(chargesOf(other)).toHaveLength(1);
  });

  it('twenty first payments of one user at the same moment create one customer at the gateway', async () => {
    await dataSource.query('DELETE FROM gateway_customer');
    const ids = await Promise.all(Array.from({ length: 20 }, () => placeOrder('demo-bob')));
    const creations = () => gateway.calls.filter((call) => call.key === 'customer-create-bob').length;
    gateway.customerGate.close();
    const answering = Promise.all(
      ids.map((id, index) => pay(index % 2 ? first : second, id, randomUUID(), 'demo-bob')),
    );
    await eventually(() => expect(creations()).toBeGreaterThan(1)).finally(() => gateway.customerGate.open());
    const answers = await answering;
    const charges = ids.flatMap(chargesOf);

    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 201));
    const customers = gateway.customers.filter(({ customerId }) => customerId === 'bob');
    expect(customers).toHaveLength(1);
    expect(charges).toHaveLength(20);
    expect(new Set(charges.map(({ customer }) => customer))).toEqual(new Set([customers[0]!.id]));
  });

  it('a declined payment is final, and the order can be paid with another key', async () => {
    const items = [{ sku: 'KIBBLE-2KG', quantity: 99 }];
    await dataSource.query('UPDATE product SET price = 1000000, stock = 1000 WHERE sku = $1', ['KIBBLE-2KG']);
    const placed = await first.post('/orders', randomUUID(), { ...ORDER, items });
    const { id } = placed.json();
    const key = randomUUID();
    const declined = await pay(first, id, key);
    const replayed = await pay(second, id, key);
    const again = await pay(second, id, randomUUID());

    expect(declined.status).toBe(402);
    expectReplay(replayed, declined);
    expect(again.status).toBe(402);
    expect(callsOf(id)).toBe(2);
    expect(chargesOf(id)).toEqual([]);
    await dataSource.query('UPDATE product SET price = 1980 WHERE sku = $1', ['KIBBLE-2KG']);
  });
});
