import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';

import { newKey } from '../support/idempotent-app.js';
import { type PaymentsApp, startPaymentsApp } from '../stores/payments-app.js';
import { DURABLE, NOT_PERSISTENT, RedisServer } from './redis-server.js';
import { describeWithRedis } from './with-redis.js';

/** Milliseconds that a store waits for its server when it is opened. */
const START_TIME_LIMIT = 10_000;

const SNAPSHOTS = ['--save', '60 1', '--appendonly', 'no'];
/** It takes 10 ms for each key, and tells who asks that it is loading. */
const SLOW_TO_READ =
  '--key-load-delay 10000 --rdbcompression no --loading-process-events-interval-bytes 1024';

describeWithRedis('an app that keeps its records in Redis', () => {
  let redis: RedisServer | undefined;
  let app: PaymentsApp | undefined;

  afterEach(async () => {
    await app?.close();
    await redis?.stop();
    [app, redis] = [undefined, undefined];
  });

  /** What it warns of when it starts on a server with these flags. */
  async function warningsWith(...flags: string[]): Promise<string> {
    redis = await RedisServer.start({ flags });
    app = await startPaymentsApp('express', new RedisIdempotencyStore(redis.url));
    return app.log.messages('warn').join('\n');
  }

  it('starts without a warning where nothing is forgotten', async () => {
    expect(await warningsWith(...DURABLE, '--maxmemory-policy', 'noeviction')).toBe('');
  });

  it.each(['allkeys-lru', 'volatile-ttl'])(
    'warns that the policy %s may remove records in use',
    async (policy) => {
      const warnings = await warningsWith(...DURABLE, '--maxmemory-policy', policy);
      expect(warnings).toContain(`maxmemory-policy ${policy}`);
      expect(warnings).toMatch(/executed a second time.*noeviction/s);
    },
  );

  it('warns that a restart forgets everything where nothing is on disk', async () => {
    expect(await warningsWith(...NOT_PERSISTENT)).toMatch(
      /keeps nothing on disk.*every retry is executed a second time.*appendonly yes/s,
    );
  });

  it('warns that a crash forgets what came after the last snapshot', async () => {
    expect(await warningsWith(...SNAPSHOTS)).toMatch(/snapshots at most.*appendonly yes/s);
  });

  it('warns once that it cannot be known where INFO is refused, and works', async () => {
    redis = await RedisServer.start({ flags: [...DURABLE, '--rename-command', 'CONFIG', ''] });
    await redis.ask((client) => client.call('ACL', 'SETUSER', 'default', '-info'));
    const { port } = redis;
    app = await startPaymentsApp('express', new RedisIdempotencyStore({ port, enableReadyCheck: false }));
    expect(app.log.messages('warn').join()).toContain('does not tell whether it may forget');
    expect((await app.post()).status).toBe(201);
  });

  it('does not start in another database than the one that was given, where the user may not select it', async () => {
    redis = await RedisServer.start({ flags: DURABLE });
    await redis.ask((client) => client.call('ACL', 'SETUSER', 'default', '-select'));
    const store = new RedisIdempotencyStore(`${redis.url}/1`);
    await expect(store.open()).rejects.toThrow(/cannot be used.*NOPERM.*number of the database/s);
  });

  it.each([
    ['a wrong password', ':wrong@', /cannot be used.*WRONGPASS.*password/s],
    ['a user that does not exist', 'nobody:right@', /cannot be used.*WRONGPASS.*password/s],
    ['no password where there has to be one', '', /cannot be used.*NOAUTH.*password/s],
  ])('does not start with %s, and says so without waiting', async (_, login, message) => {
    redis = await RedisServer.start({ flags: DURABLE });
    await redis.ask((client) => client.config('SET', 'requirepass', 'right'));
    const store = new RedisIdempotencyStore(`redis://${login}127.0.0.1:${redis.port}`);
    const begin = performance.now();
    await expect(store.open()).rejects.toThrow(message);
    expect(performance.now() - begin).toBeLessThan(START_TIME_LIMIT / 2);
  });

  it('does not start in a cluster that refuses the password, and says so without waiting', async () => {
    redis = await RedisServer.start({ flags: [...DURABLE, '--cluster-enabled', 'yes'] });
    await redis.ask((client) => client.config('SET', 'requirepass', 'right'));
    const nodes = [{ host: '127.0.0.1', port: redis.port }];
    const options = { lazyConnect: true, redisOptions: { password: 'wrong' } };
    const store = new RedisIdempotencyStore(new Cluster(nodes, options));
    const begin = performance.now();
    await expect(store.open()).rejects.toThrow(/cannot be used.*WRONGPASS.*password/s);
    expect(performance.now() - begin).toBeLessThan(START_TIME_LIMIT / 2);
  });

  it('starts when it is tried again, and the server does not refuse it any more', async () => {
    redis = await RedisServer.start({ flags: DURABLE });
    const store = new RedisIdempotencyStore(`redis://shop:secret@127.0.0.1:${redis.port}`);
    await expect(store.open()).rejects.toThrow('WRONGPASS');
    await redis.ask((client) => client.call('ACL', 'SETUSER', 'shop', 'on', '>secret', '~*', '+@all'));
    app = await startPaymentsApp('express', store);
    expect((await app.post()).status).toBe(201);
  });

  it('starts when it is tried again, and there is a server at last', async () => {
    redis = await RedisServer.start({ flags: DURABLE });
    await redis.kill();
    const store = new RedisIdempotencyStore(redis.url);
    await expect(store.open()).rejects.toThrow('ECONNREFUSED');
    await redis.launch();
    app = await startPaymentsApp('express', store);
    expect((await app.post()).status).toBe(201);
  }, 30_000);

  it('waits for a server that comes later, and reads its data first', async () => {
    redis = await RedisServer.start({ flags: [...SNAPSHOTS, ...SLOW_TO_READ.split(' ')] });
    const values = Array.from({ length: 200 }, (_, number) => [`${number}`, 'x'.repeat(2_000)]);
    await redis.ask((client) => client.mset(Object.fromEntries(values)));
    await redis.ask((client) => client.save());
    await redis.kill();
    const starting = startPaymentsApp('express', new RedisIdempotencyStore(redis.url));
    await sleep(500);
    await redis.launch();
    app = await starting;
    expect((await app.post()).status).toBe(201);
  });
});

describeWithRedis('a store on Redis', () => {
  let redis: RedisServer;
  const apps: PaymentsApp[] = [];

  beforeEach(async () => {
    redis = await RedisServer.start({ flags: DURABLE });
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await redis.stop();
  });

  const start = async (store: RedisIdempotencyStore): Promise<PaymentsApp> => {
    const app = await startPaymentsApp('express', store);
    apps.push(app);
    return app;
  };

  it('that two applications share is closed with the second one', async () => {
    const store = new RedisIdempotencyStore(redis.url);
    const first = await start(store);
    const second = await start(store);
    await first.close();
    expect((await second.post()).status).toBe(201);
  });

  it('that was closed can be opened by the next application', async () => {
    const store = new RedisIdempotencyStore(redis.url);
    const key = newKey();
    const first = await start(store);
    const answer = await first.post(key);
    await first.close();
    const replay = await (await start(store)).post(key);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    expect(replay.body).toEqual(answer.body);
  });

  it('that nobody has open refuses what comes late, and does not connect again', async () => {
    const store = new RedisIdempotencyStore(redis.url);
    await store.open();
    await store.close();
    await expect(store.find(Buffer.alloc(32), 500)).rejects.toThrow('The store was closed.');
  });

  it.each([{ stringNumbers: true }, { keyPrefix: 'their:' }, { db: 3 }, { enableAutoPipelining: true }])(
    'works with a client that has the options %j',
    async (options) => {
      const client = new Redis(redis.port, '127.0.0.1', { ...options, lazyConnect: true });
      const app = await start(new RedisIdempotencyStore(client));
      const key = newKey();
      const first = await app.post(key);
      expect(first.status).toBe(201);
      expect((await app.post(key)).body).toEqual(first.body);
      expect(app.executed(key)).toBe(1);
    },
  );
});

describeWithRedis('a connection to Redis', () => {
  it('that cannot be made stops the start, with the address', async () => {
    await expect(new RedisIdempotencyStore('redis://127.0.0.1:1').open()).rejects.toThrow(
      /cannot be used.*127\.0\.0\.1:1/s,
    );
  });

  it.each([undefined, null, '', 'localhost', 6379])(
    'is not %j, and the message says what to give',
    (connection) => {
      expect(() => new RedisIdempotencyStore(connection as never)).toThrow(
        /in the place of a connection.*redis:\/\/localhost:6379/s,
      );
    },
  );

  it.each([
    [{ prefix: 'a:' }, /`prefix` of RedisIdempotencyStore does not exist.*keyPrefix/s],
    [{ keyPrefix: '' }, /`keyPrefix` of RedisIdempotencyStore is ""/],
  ])('takes no options such as %j', (options, message) => {
    expect(() => new RedisIdempotencyStore('redis://localhost', options as never)).toThrow(message);
  });
});
