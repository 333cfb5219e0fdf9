import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { DataSource } from 'typeorm';

import { createAdapter, onEachAdapter } from '../support/adapters.js';
import { CapturedLog } from '../support/captured-log.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const ORDER = { items: [{ sku: 'KIBBLE-2KG', quantity: 2 }], currency: 'JPY' };

// Jest's module loader cannot load Swagger UI's files on Fastify, and no request here needs them.
jest.unstable_mockModule('../../apps/orders/src/docs/setup-docs.js', () => ({ setupDocs: () => undefined }));

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  // The configuration is read when the module is imported, so both adapters share it.
  Object.assign(process.env, { DATABASE_URL: database.url, GATEWAY_LATENCY: '50ms' });
  const { ordersDataSourceOptions } = await import('../../apps/orders/src/database/data-source-options.js');
  const { seedProducts } = await import('../../apps/orders/src/database/seed-products.js');
  const dataSource = await new DataSource(ordersDataSourceOptions(database.url)).initialize();
  await dataSource.runMigrations();
  await seedProducts(dataSource);
  await dataSource.destroy();
});
afterAll(() => database.drop());

onEachAdapter((adapter) => {
  let app: INestApplication;
  const log = new CapturedLog();

  beforeAll(async () => {
    const { AppModule } = await import('../../apps/orders/src/app.module.js');
    const { configureApp } = await import('../../apps/orders/src/configure-app.js');
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .setLogger(log)
      .compile();
    app = module.createNestApplication(createAdapter(adapter), { logger: log });
    await configureApp(app);
    await app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  const post = (path: string, key: string, body?: object, token = 'demo-alice') =>
    request(app.getHttpServer())
      .post(path)
      .set({ Authorization: `Bearer ${token}`, 'Idempotency-Key': key })
      .send(body);
  const get = (path: string) =>
    request(app.getHttpServer()).get(path).set('Authorization', 'Bearer demo-alice');
  const events = (event: string, orderId: string) =>
    log.lines
      .map((line) => JSON.stringify(line))
      .filter((line) => line.includes(`"event":"${event}"`) && line.includes(`"orderId":"${orderId}"`));
  const mails = () => log.lines.filter((line) => JSON.stringify(line).includes('mail.order-confirmation'));
  const stock = async (): Promise<number> => {
    const { body } = await get('/v1/products');
    return (body as { sku: string; stock: number }[]).find(({ sku }) => sku === 'KIBBLE-2KG')!.stock;
  };

  it('an order that is sent twice is placed once, and answered twice', async () => {
    const key = randomUUID();
    const before = await stock();
    const first = await post('/v1/orders', key, ORDER).expect(201);
    const second = await post('/v1/orders', key, ORDER).expect(201).expect('Idempotent-Replayed', 'true');

    expect(second.text).toBe(first.text);
    expect(second.headers['location']).toBe(first.headers['location']);
    expect(await stock()).toBe(before - 2);
    expect(events('mail.order-confirmation', first.body.id)).toHaveLength(1);
    await post('/v1/orders', key, { ...ORDER, items: [{ sku: 'KIBBLE-2KG', quantity: 3 }] }).expect(422);
    await post('/v1/orders', key, ORDER, 'demo-bob').expect(201);
    expect(await stock()).toBe(before - 4);
  });

  it('an order that cannot be filled changes nothing, and its refusal is replayed', async () => {
    const key = randomUUID();
    const before = await stock();
    const mailsBefore = mails().length;
    const body = { items: [{ sku: 'KIBBLE-2KG', quantity: before + 1 }], currency: 'JPY' };
    const first = await post('/v1/orders', key, body).expect(409);
    const second = await post('/v1/orders', key, body).expect(409).expect('Idempotent-Replayed', 'true');

    expect(second.text).toBe(first.text);
    expect(await stock()).toBe(before);
    expect(mails()).toHaveLength(mailsBefore);
  });

  it('ten requests for one payment make one charge', async () => {
    const { body: order } = await post('/v1/orders', randomUUID(), ORDER).expect(201);
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post(`/v1/orders/${order.id}/pay`, key)),
    );
    const retry = await post(`/v1/orders/${order.id}/pay`, key).expect(201);

    expect(answers.filter(({ status }) => status === 201)[0]!.text).toBe(retry.text);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(events('gateway.charge', order.id)).toHaveLength(1);
    await post(`/v1/orders/${order.id}/refund`, randomUUID()).expect(201);
  });

  it.each([
    ['another amount', 1],
    ['one that would be declined', 1_000_000],
  ])('the gateway refuses a key that comes again with %s, and charges nothing', async (_, more) => {
    const { body: order } = await post('/v1/orders', randomUUID(), ORDER).expect(201);
    const key = randomUUID();
    await post(`/v1/orders/${order.id}/pay`, key).expect(201);
    const dataSource = app.get(DataSource);
    // As if the order had been changed after its payment, and its client had come back after the retention.
    await dataSource.query('DELETE FROM idempotency_records WHERE key = $1', [key]);
    await dataSource.query(`UPDATE orders SET status = 'created', total = total + $2 WHERE id = $1`, [
      order.id,
      more,
    ]);
    await post(`/v1/orders/${order.id}/pay`, key).expect(500);
    await post(`/v1/orders/${order.id}/pay`, key).expect(500);
    const { body: now } = await get(`/v1/orders/${order.id}`).expect(200);

    expect(now.status).toBe('paying');
    expect(events('gateway.charge', order.id)).toHaveLength(1);
    expect(log.messages('error').join()).toContain('PaymentKeyReusedError');
  });

  it('removes entries of the inbox when twice the retention of a record is over, every hour', async () => {
    const { InboxPurge } = await import('../../apps/orders/src/steps/inbox-purge.js');
    const dataSource = app.get(DataSource);
    await dataSource.query(`INSERT INTO inbox_entry (step_key, subject, created_at)
      VALUES ('old', '', now() - interval '49 hours'), ('young', '', now() - interval '47 hours')`);
    await app.get(InboxPurge).purge();

    expect(await dataSource.query('SELECT step_key FROM inbox_entry')).toEqual([{ step_key: 'young' }]);
    expect(app.get(SchedulerRegistry).getIntervals()).toContain('inbox-purge');
    await dataSource.query('DELETE FROM inbox_entry');
  });

  it('is healthy when the database answers and has the records', async () => {
    const { body } = await get('/health').expect(200);
    expect(body.details).toMatchObject({ database: { status: 'up' }, idempotency: { status: 'up' } });
  });

  it('a request without a token is refused before its key is looked at', async () => {
    await request(app.getHttpServer()).post('/v1/orders').send(ORDER).expect(401);
  });
});
