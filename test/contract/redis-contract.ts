import type { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterAll, beforeAll, expect } from '@jest/globals';

import { type RedisServer, redisVersion } from '../redis/redis-server.js';
import { describeWithRedis } from '../redis/with-redis.js';
import { NO_REDIS, type ON_REDIS } from './contract-stores.js';
import { describeContract } from './describe-contract.js';

export interface RedisSubject {
  servers: readonly RedisServer[];
  store: RedisIdempotencyStore;
}

/**
 * The contract of a store on servers of its own; time is Redis's, so the cases wait for it.
 *
 * @param more tests on the same servers, after the contract
 */
export function describeRedisContract(
  store: (typeof ON_REDIS)[number],
  start: () => Promise<RedisSubject>,
  more?: () => void,
): void {
  const version = redisVersion();
  describeWithRedis(`the contract on ${store}`, () => {
    let subject: RedisSubject;

    beforeAll(async () => {
      subject = await start();
      for (const server of subject.servers) expect(await versionOf(server)).toBe(version);
    }, 60_000);
    afterAll(async () => {
      await subject.store.close();
      await Promise.all(subject.servers.map((server) => server.stop()));
    });

    const server = version === undefined ? NO_REDIS : `Redis ${version}`;
    describeContract({ store, server, open: () => subject.store });
    more?.();
  });
}

async function versionOf(server: RedisServer): Promise<string | undefined> {
  const info = await server.ask((client) => client.info('server'));
  return /^redis_version:(\S+)/m.exec(info)?.[1];
}
