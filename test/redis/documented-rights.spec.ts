import { idempotencyStoreContract } from '@exactly-once/nestjs/testing';
import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

import { read } from '../docs/markdown.js';
import { failuresOf } from '../testing-kit/failures-of.js';
import { RedisServer } from './redis-server.js';
import { describeWithRedis } from './with-redis.js';

/** The command of docs/redis.md, which has name and password in it. */
function documentedRights(): string[] {
  return /^ACL SETUSER shop on >secret .*$/m.exec(read('docs/redis.md'))![0].split(' ');
}

describeWithRedis('a user with the rights that are documented', () => {
  let redis: RedisServer;
  let store: RedisIdempotencyStore;

  beforeEach(async () => {
    redis = await RedisServer.start();
    const [command, ...rights] = documentedRights();
    await redis.ask((client) => client.call(command!, ...rights));
    store = new RedisIdempotencyStore(`redis://shop:secret@127.0.0.1:${redis.port}`);
    await store.open();
  });
  afterEach(async () => {
    await store.close();
    await redis.stop();
  });

  it('may do all that a store does', async () => {
    expect(await failuresOf(idempotencyStoreContract(() => store))).toEqual([]);
  });
});
