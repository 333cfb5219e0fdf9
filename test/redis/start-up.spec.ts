import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterEach, expect, it } from '@jest/globals';

import { type RedisApp, startRedisApp } from './redis-app.js';
import { DURABLE, NOT_PERSISTENT, RedisServer } from './redis-server.js';
import { describeWithRedis } from './with-redis.js';

describeWithRedis('an app that keeps its records in Redis', () => {
  let redis: RedisServer | undefined;
  let app: RedisApp | undefined;

  afterEach(async () => {
    await app?.close();
    await redis?.stop();
    [app, redis] = [undefined, undefined];
  });

  /** What it warns of when it starts on a server with these flags. */
  async function warningsWith(...flags: string[]): Promise<string> {
    redis = await RedisServer.start({ flags });
    app = await startRedisApp('express', new RedisIdempotencyStore(redis.url));
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
    expect(await warningsWith('--save', '60 1', '--appendonly', 'no')).toMatch(
      /snapshots alone.*appendonly yes/s,
    );
  });

  it('warns once that it cannot be known where INFO is refused, and works', async () => {
    redis = await RedisServer.start({ flags: [...DURABLE, '--rename-command', 'CONFIG', ''] });
    await redis.ask((client) => client.call('ACL', 'SETUSER', 'default', '-info'));
    const { port } = redis;
    app = await startRedisApp('express', new RedisIdempotencyStore({ port, enableReadyCheck: false }));
    expect(app.log.messages('warn').join()).toContain('does not tell whether it may forget');
    expect((await app.post()).status).toBe(201);
  });

  it('does not start with a wrong password, and says so', async () => {
    redis = await RedisServer.start({ flags: DURABLE });
    await redis.ask((client) => client.config('SET', 'requirepass', 'right'));
    const store = new RedisIdempotencyStore(`redis://:wrong@127.0.0.1:${redis.port}`);
    await expect(store.open()).rejects.toThrow(/cannot be reached.*(WRONGPASS|invalid).*password/s);
  });
});

describeWithRedis('a connection to Redis', () => {
  it('that cannot be made stops the start, with the address', async () => {
    await expect(new RedisIdempotencyStore('redis://127.0.0.1:1').open()).rejects.toThrow(
      /cannot be reached.*127\.0\.0\.1:1/s,
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
