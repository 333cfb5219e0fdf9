import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';

@Controller()
class OrdersController {
  constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

  private create() {
    return this.effects.save({ name: 'order' });
  }

  @Post('default')
  @Idempotent()
  byDefault() {
    return this.create();
  }

  @Post('header')
  @Idempotent({ header: 'X-Request-Key' })
  header() {
    return this.create();
  }

  @Post('structured')
  @Idempotent({ keyFormat: 'structured' })
  structured() {
    return this.create();
  }

  @Post('key-from')
  @Idempotent({
    header: 'X-Request-Key',
    keyFormat: 'structured',
    keyFrom: async (context) => context.switchToHttp().getRequest().body.intent,
  })
  keyFrom() {
    return this.create();
  }

  @Post('key-from-optional')
  @Idempotent({ required: false, keyFrom: (context) => context.switchToHttp().getRequest().body.intent })
  keyFromOptional() {
    return this.create();
  }

  @Post('tenant')
  @Idempotent({ scope: (request) => request.headers['x-tenant'] })
  tenant() {
    return this.create();
  }

  @Post('shared')
  @Idempotent({ scope: false })
  shared() {
    return this.create();
  }

  @Post('first')
  @Idempotent({ operation: 'create-order' })
  first() {
    return this.create();
  }

  @Post('second')
  @Idempotent({ operation: 'create-order' })
  second() {
    return this.create();
  }
}

onEachAdapter((adapter) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [OrdersController] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  it('header: it names the header of the key, and the usual one is not read', async () => {
    const key = newKey();
    const path = '/header';
    const first = await app.post({ key: null, path, headers: { 'x-request-key': key } });
    const second = await app.post({ key: newKey(), path, headers: { 'X-REQUEST-KEY': `"${key}"` } });
    const without = await app.post({ key: newKey(), path });

    expect(first.status).toBe(201);
    expectReplay(second, first);
    expectProblem(without, 400, 'IDEMPOTENCY_KEY_REQUIRED');
    expect(without.json().detail).toMatch('X-Request-Key');
    expect(await app.effects.count()).toBe(1);
  });

  it("keyFormat: 'structured' takes the quoted form alone, and 'any', the default, both", async () => {
    const bare = await app.post({ key: 'abc', path: '/structured' });
    const quoted = await app.post({ key: '"abc"', path: '/structured' });
    const bareByDefault = await app.post({ key: 'abc', path: '/default' });

    expectProblem(bare, 400, 'IDEMPOTENCY_KEY_INVALID');
    expect(bare.json().detail).toMatch('quoted');
    expect([quoted.status, bareByDefault.status]).toEqual([201, 201]);
    expect(await app.effects.count()).toBe(2);
  });

  it('keyFrom: it reads the key, and no header counts', async () => {
    const path = '/key-from';
    const body = { intent: 'order 42' };
    const headers = { 'X-Request-Key': '"of the header"' };
    const first = await app.post({ path, body, headers });
    const second = await app.post({ key: null, path, body });
    const without = await app.post({ path, body: {}, headers });

    expect(first.status).toBe(201);
    expectReplay(second, first);
    expectProblem(without, 400, 'IDEMPOTENCY_KEY_REQUIRED');
    expect(await app.records.find()).toMatchObject([{ key: 'order 42' }]);
    expect(await app.effects.count()).toBe(1);
  });

  it.each(['', 'a\u0000b', 'a\nb', 'café', 'a\u007f', 'k'.repeat(256), 42, null, { a: 1 }, ['a']])(
    'keyFrom: the key %j is refused, also where it is optional',
    async (intent) => {
      for (const path of ['/key-from', '/key-from-optional']) {
        const answer = await app.post({ key: null, path, body: { intent } });
        expectProblem(answer, 400, 'IDEMPOTENCY_KEY_INVALID');
      }
      expect(await app.effects.count()).toBe(0);
      expect(await app.records.count()).toBe(0);
    },
  );

  it('scope: that of a handler is used in place of the one for all', async () => {
    const key = newKey();
    const post = (user: string, tenant: string) =>
      app.post({ key, path: '/tenant', headers: { 'X-User': user, 'X-Tenant': tenant } });
    const first = await post('alice', 'acme');

    expectReplay(await post('bob', 'acme'), first);
    expect((await post('alice', 'other')).headers).not.toHaveProperty('idempotent-replayed');
    const scopes = (await app.records.find()).map(({ scope }) => scope);
    expect(scopes.toSorted()).toEqual(['acme', 'other']);
    expect(await app.effects.count()).toBe(2);
  });

  it('scope: false shares the keys of a handler among all callers', async () => {
    const key = newKey();
    const post = (user: string) => app.post({ key, path: '/shared', headers: { 'X-User': user } });
    const first = await post('alice');

    expectReplay(await post('bob'), first);
    expect(await app.records.find()).toMatchObject([{ scope: null, key }]);
    expect(await app.effects.count()).toBe(1);
  });

  it('operation: handlers of one name share their keys, in place of method and path', async () => {
    const key = newKey();
    const first = await app.post({ key, path: '/first' });
    const second = await app.post({ key, path: '/second' });

    expect(first.status).toBe(201);
    expectProblem(second, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect((await app.post({ key, path: '/default' })).status).toBe(201);
    const records = await app.records.find();
    expect(records.map(({ operation }) => operation).toSorted()).toEqual(['POST /default', 'create-order']);
    expect(await app.effects.count()).toBe(2);
  });
});
