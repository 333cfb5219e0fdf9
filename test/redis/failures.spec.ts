import { RedisIdempotencyStore } from '@exactly-once/redis';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { AnswerLosingProxy } from '../support/answer-losing-proxy.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';
import { type PaymentsApp, startPaymentsApp } from '../stores/payments-app.js';
import { DURABLE, RedisServer } from './redis-server.js';
import { describeWithRedis } from './with-redis.js';

const UNAVAILABLE = 'IDEMPOTENCY_STORE_UNAVAILABLE';

describeWithRedis('when Redis fails', () => {
  let redis: RedisServer;
  let proxy: AnswerLosingProxy;
  let app: PaymentsApp;

  const newStore = () => new RedisIdempotencyStore(`redis://127.0.0.1:${proxy.port}`);

  beforeEach(async () => {
    redis = await RedisServer.start({ flags: DURABLE });
    proxy = await AnswerLosingProxy.start(redis.port);
  });
  afterEach(async () => {
    redis.resume();
    await app.close();
    await proxy.close();
    await redis.stop();
  });

  const start = async (storeTimeout: `${number}ms`) => {
    app = await startPaymentsApp('express', newStore(), {
      storeTimeout,
    });
  };

  const letShopIn = (password: string) =>
    redis.ask((client) =>
      client.call('ACL', 'SETUSER', 'shop', 'on', 'resetpass', `>${password}`, '~*', '+@all'),
    );

  it('C26: nothing is executed while it is down, and all goes on when it is back', async () => {
    await start('500ms');
    const key = newKey();
    const first = await app.post(key);
    await redis.kill();

    expectProblem(await app.post(key), 503, UNAVAILABLE);
    const during = newKey();
    const refused = await app.post(during);
    expectProblem(refused, 503, UNAVAILABLE);
    expect(refused.headers['retry-after']).toBe('1');
    expect(app.executed(during)).toBe(0);

    await redis.launch();
    const replay = await app.insist(key);
    expectReplay(replay, first);
    expect((await app.post(during)).status).toBe(201);
    expect([app.executed(key), app.executed(during)]).toEqual([1, 1]);
  });

  it('C26: a claim that it takes after its client was refused does not block the key', async () => {
    await start('500ms');
    const key = newKey();
    redis.stall();
    expectProblem(await app.post(key), 503, UNAVAILABLE);
    expect(app.executed(key)).toBe(0);

    redis.resume();
    const answer = await app.insist(key);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
    expect(app.executed(key)).toBe(1);
  });

  it('a claim whose answer is lost is not executed, and its key is free soon', async () => {
    await start('2000ms');
    const key = newKey();
    proxy.loseNextAnswer();
    expectProblem(await app.post(key), 503, UNAVAILABLE);
    expect(app.executed(key)).toBe(0);

    await app.insist(key);
    expect(app.executed(key)).toBe(1);
  });

  it('C25: an outcome whose answer is lost is recorded all the same, before its client gets it', async () => {
    await start('5000ms');
    const { key, posting } = await app.begin(300);
    proxy.loseNextAnswer();

    const first = await posting;
    expect(first.status).toBe(201);
    const replay = await app.post(key);
    expectReplay(replay, first);
    expect(app.executed(key)).toBe(1);
  });

  it('C25: an outcome is recorded after a restart of Redis in the middle of the handler', async () => {
    await start('5000ms');
    const { key, posting } = await app.begin(500);
    await redis.kill();
    await redis.launch();

    const first = await posting;
    expect(first.status).toBe(201);
    expect((await app.post(key)).body).toEqual(first.body);
    expect(app.executed(key)).toBe(1);
  });

  it('a network that drops all packets is noticed, and another connection is made', async () => {
    await start('1000ms');
    await app.post();
    proxy.silence();
    expectProblem(await app.post(), 503, UNAVAILABLE);
    await app.insist(undefined, 20_000);
  });

  it('a lost connection does not take the next one with it', async () => {
    await start('2000ms');
    await app.post();
    redis.stall();
    const posting = app.post();
    await sleep(200);
    proxy.cut();
    redis.resume();
    await posting;
    await app.insist();
    const { connections } = proxy;

    await sleep(6_000);
    expect((await app.post()).status).toBe(201);
    expect(proxy.connections).toBe(connections);
  });

  it('a server that takes no writes any more, since it is a replica now, is asked for nothing', async () => {
    await start('500ms');
    const key = newKey();
    await redis.ask((client) => client.replicaof('127.0.0.1', 1));
    expectProblem(await app.post(key), 503, UNAVAILABLE);
    expect(app.executed(key)).toBe(0);

    await redis.ask((client) => client.replicaof('NO', 'ONE'));
    await app.insist(key);
    expect(app.executed(key)).toBe(1);
  });

  it('a server without memory refuses new keys, and nothing is executed', async () => {
    await start('500ms');
    const key = newKey();
    await redis.ask((client) => client.config('SET', 'maxmemory', '1'));
    expectProblem(await app.post(key), 503, UNAVAILABLE);
    expect(app.executed(key)).toBe(0);
  });

  it('a password that it does not take any more is a 503, until it takes it again', async () => {
    await letShopIn('secret');
    const store = new RedisIdempotencyStore(`redis://shop:secret@127.0.0.1:${proxy.port}`);
    app = await startPaymentsApp('express', store, { storeTimeout: '500ms' });
    await app.post();

    await letShopIn('another');
    proxy.cut();
    const key = newKey();
    for (let times = 0; times < 3; times += 1) expectProblem(await app.post(key), 503, UNAVAILABLE);
    expect(app.executed(key)).toBe(0);

    await letShopIn('secret');
    await app.insist(key);
    expect(app.executed(key)).toBe(1);
  });

  it('a database that it does not let be selected any more is a 503, and no other one is used', async () => {
    const store = new RedisIdempotencyStore(`redis://127.0.0.1:${proxy.port}/1`);
    app = await startPaymentsApp('express', store, { storeTimeout: '500ms' });
    const key = newKey();
    const first = await app.post(key);

    await redis.ask((client) => client.call('ACL', 'SETUSER', 'default', '-select'));
    proxy.cut();
    for (let times = 0; times < 3; times += 1) expectProblem(await app.post(key), 503, UNAVAILABLE);
    expect(await redis.ask((client) => client.dbsize())).toBe(0);

    await redis.ask((client) => client.call('ACL', 'SETUSER', 'default', '+select'));
    expect((await app.insist(key)).body).toEqual(first.body);
    expect(app.executed(key)).toBe(1);
  });

  it('scripts that it has forgotten are sent again', async () => {
    await start('2000ms');
    await app.post();
    await redis.ask((client) => client.script('FLUSH'));
    expect((await app.post()).status).toBe(201);
  });

  it('a value of somebody else under the key of a record concerns no other request of the same moment', async () => {
    await start('2000ms');
    const key = newKey();
    await app.post(key);
    await redis.ask(async (client) => {
      const [name] = await client.keys('*');
      await client.set(name!, 'what is this?');
    });
    const others = Array.from({ length: 10 }, () => app.post());
    expectProblem(await app.post(key), 503, UNAVAILABLE);
    for (const { status } of await Promise.all(others)) expect(status).toBe(201);
    expect(app.executed(key)).toBe(1);
  });

  it('a damaged record is not executed again', async () => {
    await start('2000ms');
    const key = newKey();
    await app.post(key);
    await redis.ask(async (client) => {
      const [name] = await client.keys('*');
      await client.hset(name!, 'headers', '{');
    });
    expectProblem(await app.post(key), 500, 'IDEMPOTENCY_RECORD_UNREADABLE');
    expect(app.executed(key)).toBe(1);
  });

  it('C34: a shutdown waits for handlers that run, and records what they did', async () => {
    app = await startPaymentsApp('express', newStore());
    const { key, posting } = await app.begin(500);
    const closing = app.close();
    expect((await posting).status).toBe(201);
    await closing;

    app = await startPaymentsApp('express', newStore());
    expect((await app.post(key)).headers['idempotent-replayed']).toBe('true');
  });
});
