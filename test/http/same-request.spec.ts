import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Param, Patch, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { Gate } from '../support/gate.js';
import type { HttpRequest } from '../support/http.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

function controllerFor(mode: IdempotencyMode, gate: Gate) {
  @Controller('orders')
  @Idempotent({ mode })
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    async create() {
      await gate.pass();
      return this.effects.save({ name: 'order' });
    }

    @Patch()
    change() {
      return this.effects.save({ name: 'change' });
    }

    @Post(':id/pay')
    pay(@Param('id') id: string) {
      return this.effects.save({ name: `payment of ${id}` });
    }
  }
  return OrdersController;
}

const json = (body: string, path = '/orders'): HttpRequest => ({
  path,
  body,
  headers: { 'Content-Type': 'application/json' },
});

onEachAdapterInEachMode((adapter, mode) => {
  const gate = new Gate();
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [controllerFor(mode, gate)] });
  });
  afterAll(() => app.close());
  afterEach(() => gate.open());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  const sendBoth = async (one: HttpRequest, other: HttpRequest) => {
    const key = newKey();
    const first = await app.post({ key, ...one });
    expect(first.status).toBe(201);
    return [first, await app.post({ key, ...other }), await app.post({ key, ...one })] as const;
  };

  it.each([
    ['keys in another order', json('{"a":1,"b":2}'), json('{"b":2,"a":1}')],
    [
      'nested keys in another order',
      json('{"x":[{"a":1,"b":{"c":1,"d":2}}]}'),
      json('{"x":[{"b":{"d":2,"c":1},"a":1}]}'),
    ],
    ['other white space', json('{"a":1,"b":[1,2]}'), json('{ "a" : 1,\n "b" : [ 1, 2 ] }')],
    ['a number that is written otherwise', json('{"a":100}'), json('{"a":1e2}')],
    ['a text that is escaped otherwise', json('{"a":"é/"}'), json('{"a":"\\u00e9\\/"}')],
    [
      'a content type with another case and parameters',
      json('{"a":1}'),
      { ...json('{"a":1}'), headers: { 'Content-Type': 'Application/JSON; charset=utf-8' } },
    ],
    ['a query in another order', json('{}', '/orders?a=1&b=2'), json('{}', '/orders?b=2&a=1')],
    ['a query that is encoded otherwise', json('{}', '/orders?a=%7e%20'), json('{}', '/orders?a=~+')],
  ])('C15: a retry with %s is the same request', async (_, one, other) => {
    const [first, second] = await sendBoth(one, other);

    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
  });

  if (adapter === 'fastify') {
    it('C15: a body that is null in JSON has been parsed, and is not the same as none', async () => {
      const [first, second, third] = await sendBoth(json('null'), { path: '/orders', body: '' });

      expectProblem(second, 422, 'IDEMPOTENCY_KEY_REUSED');
      expectReplay(third, first);
      expect(await app.effects.count()).toBe(1);
    });
  }

  it.each([
    ['another value', json('{"a":1}'), json('{"a":2}')],
    ['a value of another type', json('{"a":1}'), json('{"a":"1"}')],
    ['null for a value that was missing', json('{}'), json('{"a":null}')],
    ['a list in another order', json('[1,2]'), json('[2,1]')],
    ['a value at another depth', json('{"a":{"b":1}}'), json('{"a":1,"b":1}')],
    ['a text in place of its parts', json('{"a":"1,2"}'), json('{"a":[1,2]}')],
    ['no body', json('{"a":1}'), { path: '/orders', body: '' }],
    [
      'a form of the same fields',
      json('{"a":"1"}'),
      { path: '/orders', body: 'a=1', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    ],
  ])('C15: a request with %s is another one', async (_, one, other) => {
    const [first, second, third] = await sendBoth(one, other);

    expectProblem(second, 422, 'IDEMPOTENCY_KEY_REUSED');
    expectReplay(third, first);
    expect(await app.effects.count()).toBe(1);
  });

  it.each([
    ['?dry=1 for no query', '/orders', '/orders?dry=1'],
    ['another value in the query', '/orders?dry=1', '/orders?dry=0'],
    ['values of one name in another order', '/orders?a=1&a=2', '/orders?a=2&a=1'],
    ['a separator that is part of a value', '/orders?a=1&b=2', '/orders?a=1%26b=2'],
    ['other bytes that are not UTF-8', '/orders?a=%FF', '/orders?a=%FE'],
  ])('C16: a request with %s is another one', async (_, path, otherPath) => {
    const [first, second, third] = await sendBoth({ path }, { path: otherPath });

    expectProblem(second, 422, 'IDEMPOTENCY_KEY_REUSED');
    expectReplay(third, first);
    expect(await app.effects.count()).toBe(1);
  });

  it('C17: the key of one order is refused for another order', async () => {
    const [first, second, third] = await sendBoth({ path: '/orders/1/pay' }, { path: '/orders/2/pay' });

    expectProblem(second, 422, 'IDEMPOTENCY_KEY_REUSED');
    expectReplay(third, first);
    expect(await app.effects.find()).toMatchObject([{ name: 'payment of 1' }]);
  });

  it('C18: another body is refused with 422 at once, while the first request is in flight', async () => {
    const key = newKey();
    const same = { key, path: '/orders' };
    gate.close();
    const running = app.post(same);
    await gate.arrival();
    const other = await app.post({ ...same, body: { amount: 200 } });
    const duplicate = await app.post(same);
    const otherAgain = await app.post({ ...same, body: { amount: 200 } });
    gate.open();
    const first = await running;

    expectProblem(other, 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(other.headers).not.toHaveProperty('retry-after');
    expectProblem(duplicate, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expectProblem(otherAgain, 422, 'IDEMPOTENCY_KEY_REUSED');
    expectReplay(await app.post(same), first);
    expect(await app.effects.count()).toBe(1);
  });

  it('a key of one operation is free for another one, on the same path too', async () => {
    const key = newKey();
    const created = await app.post({ key, path: '/orders' });
    const changed = await app.post({ key, path: '/orders', method: 'PATCH' });
    const paid = await app.post({ key, path: '/orders/1/pay' });

    expect([created.status, changed.status, paid.status]).toEqual([201, 200, 201]);
    expect(await app.effects.count()).toBe(3);
    const records = await app.records.find();
    expect(records.map(({ operation }) => operation).toSorted()).toEqual([
      'PATCH /orders',
      'POST /orders',
      'POST /orders/:1/pay',
    ]);
  });
});
