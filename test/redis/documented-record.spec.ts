import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { read } from '../docs/markdown.js';
import { newKey } from '../support/idempotent-app.js';
import { type PaymentsApp, startPaymentsApp } from '../stores/payments-app.js';
import { RedisServer } from './redis-server.js';
import { describeWithRedis } from './with-redis.js';

/** The fields that the table of docs/redis.md names. */
function documentedFields(): string[] {
  const table = /^\| field \| content \|\n((?:\|.*\n)+)/m.exec(read('docs/redis.md'))![1]!;
  return table
    .split('\n')
    .slice(1)
    .flatMap((row) => [...(row.split('|')[1]?.matchAll(/`(\w+)`/g) ?? [])].map(([, name]) => name!));
}

describeWithRedis('a record', () => {
  let redis: RedisServer;
  let app: PaymentsApp;

  beforeAll(async () => {
    redis = await RedisServer.start();
    app = await startPaymentsApp('fastify', new RedisIdempotencyStore(redis.url));
  });
  afterAll(async () => {
    await app.close();
    await redis.stop();
  });

  it('has the fields that its documentation lists, and those that operators look at are readable', async () => {
    const key = newKey();
    await app.post(key);
    const record = await redis.ask(async (client) => {
      const [name] = await client.keys('idempotency:*');
      return client.hgetall(name!);
    });

    expect(Object.keys(record).toSorted()).toEqual(
      documentedFields()
        .filter((name) => name !== 'steps')
        .toSorted(),
    );
    expect(record).toMatchObject({ operation: 'POST /', key });
    expect(documentedFields()).toContain('steps');
  });
});
