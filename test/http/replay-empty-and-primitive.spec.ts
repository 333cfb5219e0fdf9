import { Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, HttpCode, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { EMPTY, from, ignoreElements, of } from 'rxjs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectReplay, expectSameAnswer, onEachAdapterInEachMode } from '../support/replay.js';

/** The same handlers with and without the library. */
function controllerFor(path: string, decorator: MethodDecorator) {
  @Controller(path)
  class ValuesController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post('no-content')
    @HttpCode(204)
    @decorator
    async noContent() {
      await this.effects.save({ name: 'no-content' });
    }

    @Post('accepted')
    @HttpCode(202)
    @decorator
    async accepted() {
      await this.effects.save({ name: 'accepted' });
      return { accepted: true };
    }

    @Post('value')
    @decorator
    async value() {
      await this.effects.save({ name: 'value' });
      return values.current;
    }

    @Post('observable')
    @decorator
    observable() {
      return from(this.effects.save({ name: 'observable' })).pipe(ignoreElements());
    }

    @Post('promised-observable')
    @decorator
    async promisedObservable() {
      await this.effects.save({ name: 'observable' });
      return EMPTY;
    }
  }
  return ValuesController;
}

const values: { current: unknown } = { current: undefined };

const VALUES: [name: string, value: unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['the empty text', ''],
  ['a text', 'räksmörgås ✓'],
  ['a text that looks like JSON', '{"a": 1}'],
  ['the number 0', 0],
  ['a number', 12.5],
  ['true', true],
  ['false', false],
  ['an array', [1, 'two', null]],
  ['an empty array', []],
  ['an empty object', {}],
  ['an Observable of an object', of({ a: 1 })],
  ['an Observable of several values', of(1, 2, { last: true })],
];

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    const controllers = [
      controllerFor('plain', () => undefined),
      controllerFor('idempotent', Idempotent({ mode })),
    ];
    app = await startIdempotentApp({ adapter, controllers });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  async function twice(path: string) {
    const key = newKey();
    const first = await app.post({ key, path: `/idempotent/${path}` });
    const second = await app.post({ key, path: `/idempotent/${path}` });
    expect(await app.effects.count()).toBe(1);
    return { first, second };
  }

  it('C2: a handler without content is replayed as 204 with an empty body', async () => {
    const { first, second } = await twice('no-content');

    expect(first.status).toBe(204);
    expect(second.status).toBe(204);
    expect(second.body).toHaveLength(0);
    expect(second.headers).not.toHaveProperty('content-length');
    expect(second.headers).not.toHaveProperty('transfer-encoding');
    expectReplay(second, first);
    expectSameAnswer(first, await app.post({ path: '/plain/no-content' }));
    const [record] = await app.records.find();
    expect(record).toMatchObject({ status: 204, body: Buffer.alloc(0) });
  });

  it('C2: the status of @HttpCode() is replayed', async () => {
    const { first, second } = await twice('accepted');

    expect(second.status).toBe(202);
    expect(second.json()).toEqual({ accepted: true });
    expectReplay(second, first);
  });

  it.each(VALUES)('C2: a handler that returns %s gets the answer of Nest, twice', async (_name, value) => {
    values.current = value;
    const { first, second } = await twice('value');

    expectReplay(second, first);
    expectSameAnswer(first, await app.post({ path: '/plain/value' }));
  });

  it.each(['observable', 'promised-observable'])(
    'C2: an Observable without values (%s) counts as a handler that returns nothing',
    async (path) => {
      const { first, second } = await twice(path);

      expect(first.status).toBe(201);
      expect(first.body).toHaveLength(0);
      expectReplay(second, first);
    },
  );
});
