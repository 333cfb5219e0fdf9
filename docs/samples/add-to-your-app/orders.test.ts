import { idempotencyCases, moveRecordClock } from '@exactly-once/nestjs/testing';
import { NestFactory } from '@nestjs/core';
import { after, test } from 'node:test';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0);
after(() => app.close());

const url = `${await app.getUrl()}/orders`;
const headers = { Authorization: 'Bearer token-of-alice', 'Content-Type': 'application/json' };
const bodies = { same: { item: 'kibble' }, other: { item: 'bowl' } };
const dataSource = app.get(DataSource);

const cases = idempotencyCases({
  request: ({ key, body, signal }) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...(key && { 'Idempotency-Key': key }) },
      body: JSON.stringify(bodies[body]),
      signal,
    }),
  effectCount: () => dataSource.getRepository('Order').count(),
  endRetention: (key) => moveRecordClock(dataSource, key, '25h'),
});
for (const { name, run } of cases) test(name, run);
