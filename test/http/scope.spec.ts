import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

/** What the scope function gives for the header `X-Case`. */
const CASES: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  'an empty text': () => '',
  'an object': () => ({ id: 7 }),
  'a list': () => ['alice'],
  'a boolean': () => true,
  NaN: () => NaN,
  'a text with U+0000': () => 'a\0b',
  'half of a surrogate pair': () => 'a\ud800',
  'a promise of undefined': async () => undefined,
  'an error': () => {
    throw new Error('no session here');
  },
  'a rejection': async () => {
    throw new Error('no session here');
  },
  seven: () => 7,
  zero: () => 0,
  'a bigint': () => 9_007_199_254_740_993n,
  'a promise of a text': async () => 'alice',
};

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  class OrdersController {
    static calls = 0;

    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    @Idempotent({ mode, scope: ({ headers }) => CASES[headers['x-case']]!() })
    create() {
      OrdersController.calls += 1;
      return this.effects.save({ name: 'order' });
    }

    @Post('named')
    @Idempotent({ mode })
    named() {
      return this.effects.save({ name: 'named' });
    }
  }
  return OrdersController;
}

onEachAdapterInEachMode((adapter, mode) => {
  const controller = controllerFor(mode);
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [controller] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    controller.calls = 0;
    await app.effects.clear();
    await app.records.clear();
    app.log.clear();
  });

  const create = (scope: string, key = newKey()) => app.post({ key, headers: { 'X-Case': scope } });

  it.each([
    'undefined',
    'null',
    'an empty text',
    'an object',
    'a list',
    'a boolean',
    'NaN',
    'a text with U+0000',
    'half of a surrogate pair',
    'a promise of undefined',
    'an error',
    'a rejection',
  ])(
    'C12: a scope that is %s is answered with 500 and logged with the fix, and nothing is executed',
    async (scope) => {
      const key = newKey();
      const answers = [await create(scope, key), await create(scope, key)];

      for (const answer of answers) {
        expectProblem(answer, 500, 'IDEMPOTENCY_SCOPE_UNRESOLVED');
        expect(answer.text).not.toMatch(/object Object|no session/);
      }
      expect(controller.calls).toBe(0);
      expect(await app.effects.count()).toBe(0);
      expect(await app.records.count()).toBe(0);
      const [line] = app.log.lines.filter(({ level }) => level === 'error');
      expect(line!.message).toMatch(/`scope` of OrdersController\.create .*req\.user\.id.*`scope: false`/s);
      if (/error|rejection/.test(scope)) {
        expect(JSON.stringify(line)).toMatch('no session here');
      }
    },
  );

  it.each([
    ['seven', '7'],
    ['zero', '0'],
    ['a bigint', '9007199254740993'],
    ['a promise of a text', 'alice'],
  ])('C12: a scope that is %s names an owner', async (scope, name) => {
    const key = newKey();
    const first = await create(scope, key);

    expect(first.status).toBe(201);
    expectReplay(await create(scope, key), first);
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.find()).toMatchObject([{ scope: name, key }]);
  });

  it.each([
    ['a', 'b::c', 'a::b', 'c'],
    ['a', 'b:c', 'a:b', 'c'],
    ['a/POST', 'b', 'a', 'POST/b'],
    ['ab', 'c', 'a', 'bc'],
  ])('C10: scope %s with key %s is not scope %s with key %s', async (scope, key, otherScope, otherKey) => {
    const post = (user: string, itsKey: string) =>
      app.post({ path: '/named', key: itsKey, headers: { 'X-User': user } });
    const first = await post(scope, key);
    const second = await post(otherScope, otherKey);

    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(second.json().id).not.toBe(first.json().id);
    expect(await app.effects.count()).toBe(2);
    expect(await app.records.count()).toBe(2);
    expectReplay(await post(scope, key), first);
    expectReplay(await post(otherScope, otherKey), second);
  });
});
