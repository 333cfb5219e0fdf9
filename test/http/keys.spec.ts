import { Idempotent, type IdempotencyMode } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { sendRaw } from '../support/http.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay, onEachAdapterInEachMode } from '../support/replay.js';

function controllerFor(mode: IdempotencyMode) {
  @Controller()
  class OrdersController {
    constructor(@InjectRepository(Effect) readonly effects: Repository<Effect>) {}

    @Post()
    @Idempotent({ mode })
    create() {
      return this.effects.save({ name: 'order' });
    }

    @Post('optional')
    @Idempotent({ mode, required: false })
    optional() {
      return this.effects.save({ name: 'order' });
    }
  }
  return OrdersController;
}

const QUOTED_255 = `"${'k'.repeat(255)}"`;

onEachAdapterInEachMode((adapter, mode) => {
  let app: IdempotentApp;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter, controllers: [controllerFor(mode)] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.effects.clear();
    await app.records.clear();
  });

  const expectNothingDone = async () => {
    expect(await app.effects.count()).toBe(0);
    expect(await app.records.count()).toBe(0);
  };

  it.each([
    ['"abc"', 'abc'],
    ['abc', '"abc"'],
    ['"abc";a=1', 'abc'],
    [QUOTED_255, 'k'.repeat(255)],
    ['\t abc \t', '"abc"'],
  ])('C21: %j and %j are one key', async (one, other) => {
    const first = await app.post({ key: one });
    const second = await app.post({ key: other });

    expect(first.status).toBe(201);
    expectReplay(second, first);
    expect(await app.effects.count()).toBe(1);
    expect(await app.records.count()).toBe(1);
  });

  it.each([
    ['"a, b"', 'a, b'],
    ['"order 42"', 'order 42'],
    [String.raw`"a\"b"`, 'a"b'],
    ["it's:fine=yes;really/(so)[it]{is}", "it's:fine=yes;really/(so)[it]{is}"],
    ['" padded "', ' padded '],
    [`"${'"'.repeat(255).replaceAll('"', String.raw`\"`)}"`, '"'.repeat(255)],
  ])('C22: %j is a key', async (value, key) => {
    const first = await app.post({ key: value });

    expect(first.status).toBe(201);
    expectReplay(await app.post({ key: value }), first);
    expect(await app.records.find()).toMatchObject([{ key }]);
  });

  it.each([
    ['an empty one', ''],
    ['a blank one', '  \t '],
    ['an empty quoted one', '""'],
    ['a list', 'a, b'],
    ['a list without blanks', 'a,b'],
    ['a list of quoted keys', '"a", "b"'],
    ['256 characters', 'k'.repeat(256)],
    ['256 quoted characters', `"${'k'.repeat(256)}"`],
    ['an opening quote', '"abc'],
    ['a closing quote', 'abc"'],
    ['a quote alone', '"'],
    ['text after the quoted key', '"abc"def'],
    ['an escape of a letter', String.raw`"a\bc"`],
    ['an escape at the end', '"abc\\"'],
    ['a blank', 'a b'],
    ['a tab', 'a\tb'],
    ['a quoted tab', '"a\tb"'],
    ['a letter of Latin-1', 'caf\u00e9'],
    ['a quoted letter of Latin-1', '"caf\u00e9"'],
    ['a parameter that is not one', '"abc";=1'],
    ['an inner list', '("abc")'],
  ])('C22: %s is refused, also where the key is optional', async (_, key) => {
    for (const path of ['/', '/optional']) {
      expectProblem(await app.post({ key, path }), 400, 'IDEMPOTENCY_KEY_INVALID');
    }
    await expectNothingDone();
  });

  it.each([
    ['two keys', ['a', 'b']],
    ['the same key twice', ['a', 'a']],
    ['two quoted keys', ['"a"', '"b"']],
    ['a quoted key that is torn in two', ['"a', 'b"']],
    ['an empty one and a key', ['', 'a']],
    ['a key and an empty one', ['a', '']],
  ])('C22: two header lines with %s are refused, also where the key is optional', async (_, values) => {
    for (const path of ['/', '/optional']) {
      const answer = await app.post({ key: null, path, headers: { 'Idempotency-Key': values } });
      expectProblem(answer, 400, 'IDEMPOTENCY_KEY_INVALID');
    }
    await expectNothingDone();
  });

  it.each([
    ['a UTF-8 letter', 'caf\u00c3\u00a9'],
    ['a quoted UTF-8 letter', '"caf\u00c3\u00a9"'],
    ['a byte of no letter', 'a\u00ff'],
    ['a control character', 'a\u0001b'],
    ['a quoted control character', '"a\u0001b"'],
    ['a control character at the end', 'a\u001f'],
    ['U+0000', 'a\u0000b'],
    ['U+007F', 'a\u007fb'],
    ['an escape sequence', '\u001b[31m'],
    ['a header line of another spelling', 'a\r\nidempotency-key: b'],
    ['a folded line', 'a\r\n b'],
  ])('C22: raw bytes with %s are refused, also where the key is optional', async (_, bytes) => {
    for (const path of ['/', '/optional']) {
      const answer = await sendRaw(
        app.url,
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: ${bytes}\r\n` +
          `Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    }
    await expectNothingDone();
  });

  it('C22: where the key is optional, only a request without one runs unprotected', async () => {
    const answers = [
      await app.post({ key: null, path: '/optional' }),
      await app.post({ key: null, path: '/optional' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await app.effects.count()).toBe(2);
    expect(await app.records.count()).toBe(0);

    const key = newKey();
    const first = await app.post({ key, path: '/optional' });
    expectReplay(await app.post({ key, path: '/optional' }), first);
    expect(await app.effects.count()).toBe(3);
  });
});
