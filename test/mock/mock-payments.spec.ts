import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePortFrom } from '../../apps/mock-payments/src/free-port.js';
import { makeApp } from '../../apps/mock-payments/src/make-app.js';
import { DEFAULT_ANSWERS, readAnswers } from '../../apps/mock-payments/src/read-answers.js';
import { readSettings } from '../../apps/mock-payments/src/settings.js';
import { send, type HttpResponse } from '../support/http.js';

const PAYMENT = { amount: 9800, currency: 'JPY' };
const TRANSFER = { amount: 50000, currency: 'JPY', toAccount: '0000000' };
const PROBLEM = 'application/problem+json; charset=utf-8';

/** The problem with this code, as the documents of the library have it. */
async function documented(code: string): Promise<object> {
  const text = await readFile(new URL('../../docs/answers.md', import.meta.url), 'utf8');
  const blocks = Array.from(text.matchAll(/```json \w+\n([\s\S]*?)```/g), ([, json]) => JSON.parse(json!));
  return blocks.find((problem) => problem.code === code);
}

describe('the mock', () => {
  let app: INestApplication;
  let url: string;
  let key: string;

  beforeAll(async () => {
    app = await makeApp(await readAnswers(DEFAULT_ANSWERS));
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    key = randomUUID();
  });

  const post = (path: string, body: object, headers: Record<string, string>): Promise<HttpResponse> =>
    send(url, { path, body, headers });
  const pay = (idempotencyKey: string): Promise<HttpResponse> =>
    post('/payments', PAYMENT, { 'Idempotency-Key': idempotencyKey });

  it('makes a payment, and replays it', async () => {
    const first = await pay(key);
    const second = await pay(key);

    expect(first.status).toBe(201);
    expect(first.json()).toMatchObject({ id: 'pay_demo_0001', ...PAYMENT });
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(second.status).toBe(201);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
    expect((await pay(randomUUID())).headers['idempotent-replayed']).toBeUndefined();
  });

  it('keeps no state about bodies', async () => {
    await pay(key);
    const other = await post('/payments', { amount: 1, currency: 'EUR' }, { 'Idempotency-Key': key });

    expect(other.status).toBe(201);
    expect(other.json()).toMatchObject(PAYMENT);
  });

  it('takes the quoted form of a key for the same key', async () => {
    await pay(key);

    expect((await pay(`"${key}"`)).headers['idempotent-replayed']).toBe('true');
  });

  it.each([
    [400, 'IDEMPOTENCY_KEY_REQUIRED', {}],
    [422, 'IDEMPOTENCY_KEY_REUSED', { 'Idempotency-Key': 'demo-conflict' }],
    [409, 'IDEMPOTENCY_KEY_IN_USE', { 'Idempotency-Key': 'demo-in-progress' }],
  ])('answers %i with the problem that the library has: %s', async (status, code, headers) => {
    for (const answer of [
      await post('/payments', PAYMENT, headers),
      await post('/payments', PAYMENT, headers),
    ]) {
      expect(answer.status).toBe(status);
      expect(answer.headers['content-type']).toBe(PROBLEM);
      expect(answer.json()).toEqual(await documented(code));
      expect(answer.headers['retry-after']).toBe(status === 409 ? '1' : undefined);
    }
  });

  it.each([
    ['an empty key', ''],
    ['a key that is too long', 'k'.repeat(256)],
    ['a key with a space', 'a b'],
  ])('refuses %s', async (_, wrong) => {
    const answer = await pay(wrong);

    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_INVALID' });
  });

  it('takes ten seconds for a transfer, so that a client gives up, and answers the retry at once', async () => {
    const transfer = { path: '/transfers', body: TRANSFER, headers: { 'Idempotency-Key': key } };
    const begin = performance.now();
    const waiting = send(url, transfer);
    // Another connection, on which the client has no patience.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const retry = await send(url, transfer);
    const retriedAfter = performance.now() - begin;
    const first = await waiting;

    expect(retry.status).toBe(201);
    expect(retry.headers['idempotent-replayed']).toBe('true');
    expect(retriedAfter).toBeLessThan(9_000);
    expect(first.status).toBe(201);
    expect(first.body).toEqual(retry.body);
    expect(performance.now() - begin).toBeGreaterThan(9_500);
  });

  it('does not look at bodies, and lets pages from elsewhere read what matters', async () => {
    const headers = {
      'Idempotency-Key': key,
      'Content-Type': 'application/json',
      Origin: 'http://shop.test',
    };
    const answer = await send(url, { path: '/payments', body: '{"amount":', headers });

    expect(answer.status).toBe(201);
    expect(answer.headers['access-control-expose-headers']).toBe('Idempotent-Replayed,Retry-After,Location');
  });

  it('knows one payment', async () => {
    const known = await send(url, { method: 'GET', path: '/payments/pay_demo_0001' });
    const other = await send(url, { method: 'GET', path: '/payments/pay_demo_0002' });

    expect(known.status).toBe(200);
    expect(known.json()).toMatchObject({ id: 'pay_demo_0001' });
    expect(other.status).toBe(404);
    expect(other.headers['content-type']).toBe(PROBLEM);
  });

  it('answers 404 for what the table does not have', async () => {
    const answer = await post('/refunds', {}, { 'Idempotency-Key': key });

    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ detail: 'The mock has no answer for POST /refunds.' });
  });

  it('lists its endpoints at /', async () => {
    const page = await send(url, { method: 'GET', path: '/' });
    const document = (await send(url, { method: 'GET', path: '/openapi.json' })).json();

    expect(page.status).toBe(200);
    expect(page.text).toContain('swagger-ui');
    expect(Object.keys(document.paths)).toEqual([
      '/payments',
      '/transfers',
      '/payments/pay_demo_0001',
      '/payments/{id}',
    ]);
    expect(Object.keys(document.paths['/payments'].post.responses)).toEqual(['201', '409', '422']);
  });
});

describe('a table of one’s own', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mock-answers-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function fileWith(content: string): Promise<string> {
    const file = join(folder, `${randomUUID()}.json`);
    await writeFile(file, content);
    return file;
  }

  it('is what the mock answers from', async () => {
    const answers = [
      { method: 'PUT', path: '/orders/:id', key: 'late', status: 503, headers: { 'Retry-After': '7' } },
      { method: 'PUT', path: '/orders/:id', status: 204 },
      { method: 'GET', path: '/café au lait', status: 200, body: { constructor: { a: 1 } } },
    ];
    const app = await makeApp(await readAnswers(await fileWith(JSON.stringify({ answers }))));
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const put = (key: string) =>
      send(url, { method: 'PUT', path: '/orders/7', headers: { 'Idempotency-Key': key } });

    expect(await put('late')).toMatchObject({ status: 503, text: '', headers: { 'retry-after': '7' } });
    expect(await put('other')).toMatchObject({ status: 204, text: '' });
    expect((await send(url, { method: 'GET', path: encodeURI('/café au lait') })).text).toBe(
      '{"constructor":{"a":1}}',
    );
    await app.close();
  });

  it.each([
    ['{', /is not JSON: /],
    ['[]', /must be an object with the list `answers`/],
    ['{}', /must be an object with the list `answers`/],
    ['{"answers":[[]]}', /answers\.0: method must be one of/],
    [
      '{"answers":[{"method":"GET","path":"/","status":200}]}',
      /answers\.0: path must begin with \/, have no query/,
    ],
    [
      '{"answers":[{"method":"GET","path":"/a","status":200,"headers":{"a b":"1"}}]}',
      /answers\.0: headers must be/,
    ],
    ['{"answers":[{"method":"FETCH","path":"/a","status":200}]}', /answers\.0: method must be one of .*POST/],
    ['{"answers":[{"method":"POST","path":"a","status":200}]}', /answers\.0: path must begin with \//],
    ['{"answers":[{"method":"POST","path":"/a","status":"ok"}]}', /answers\.0: status must be an integer/],
    [
      '{"answers":[{"method":"POST","path":"/a","status":200,"dealy":1}]}',
      /answers\.0: property dealy should not exist/,
    ],
  ])('is refused where it is wrong: %s', async (content, message) => {
    const file = await fileWith(content);

    await expect(readAnswers(file)).rejects.toThrow(message);
    await expect(readAnswers(file)).rejects.toThrow(file);
  });

  it('is refused where there is none', async () => {
    await expect(readAnswers(join(folder, 'nothing.json'))).rejects.toThrow(/cannot be read: ENOENT/);
  });
});

describe('the command line', () => {
  it('names another table, and the port', () => {
    expect(readSettings([], {})).toEqual({ file: DEFAULT_ANSWERS, port: undefined });
    expect(readSettings(['--answers', 'mine.json'], { PORT: '4000', INIT_CWD: '/home/me' })).toEqual({
      file: '/home/me/mine.json',
      port: 4000,
    });
    expect(() => readSettings(['--table', 'mine.json'], {})).toThrow(/The only option is --answers <file>/);
    expect(() => readSettings([], { PORT: 'http' })).toThrow("PORT is 'http': it must be a port number.");
  });

  it('the next port is taken where the first one is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as { port: number };

    expect(await freePortFrom(port)).toBeGreaterThan(port);
    await new Promise((resolve) => server.close(resolve));
  });
});
