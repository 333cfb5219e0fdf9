import { idempotentFetch, IdempotentFetchError, type AttemptReport } from '@exactly-once/client';
import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';

import { CREATED, NETWORK_ERROR, problem, ScriptedFetch, type Script } from './scripted-fetch.js';

const URL = 'http://shop.test/orders';
const POST = { method: 'POST', body: '{"item":"kibble"}' };
const QUICK = { baseDelay: 1 };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const IN_USE = problem(409, 'IDEMPOTENCY_KEY_IN_USE');

function scripted(...scripts: Script[]) {
  const server = new ScriptedFetch(...scripts);
  return { server, options: { ...QUICK, fetch: server.fetch } };
}

async function failureOf(work: Promise<unknown>): Promise<IdempotentFetchError> {
  return work.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  );
}

describe('a call', () => {
  it('sends a new key, and gives the answer with what it took', async () => {
    const { server, options } = scripted(CREATED);
    const response = await idempotentFetch(URL, POST, options);

    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ id: '1' });
    expect(response).toMatchObject({ attempts: 1, replayed: false });
    expect(response.key).toMatch(UUID);
    expect(server.sent).toMatchObject([{ url: URL, body: POST.body }]);
    expect(server.sent[0]!.headers.get('Idempotency-Key')).toBe(response.key);
    const other = await idempotentFetch(URL, POST, options);
    expect(other.key).not.toBe(response.key);
  });

  it('repeats what was sent, with the same key, until there is an answer', async () => {
    const { server, options } = scripted(
      NETWORK_ERROR,
      problem(503, 'IDEMPOTENCY_STORE_UNAVAILABLE'),
      IN_USE,
      problem(429),
      problem(201, undefined, { 'Idempotent-Replayed': 'true' }),
    );
    const body = new URLSearchParams({ item: 'kibble' });
    const answering = idempotentFetch(URL, { method: 'POST', body }, options);
    await Promise.resolve();
    body.set('item', 'changed');
    const response = await answering;

    expect(response).toMatchObject({ status: 201, attempts: 5, replayed: true });
    expect(server.sent.map((sent) => sent.body)).toEqual(Array(5).fill('item=kibble'));
    expect(new Set(server.sent.map(({ headers }) => headers.get('idempotency-key')))).toEqual(
      new Set([response.key]),
    );
    expect(server.sent[4]!.headers.get('content-type')).toBe(
      'application/x-www-form-urlencoded;charset=UTF-8',
    );
  });

  it('sends a form with the same boundary each time', async () => {
    const { server, options } = scripted(NETWORK_ERROR, CREATED);
    const form = new FormData();
    form.set('file', new Blob(['abc']), 'a.txt');
    await idempotentFetch(URL, { method: 'POST', body: form }, options);

    expect(server.sent[1]!.body).toBe(server.sent[0]!.body);
    expect(server.sent[1]!.headers.get('content-type')).toBe(server.sent[0]!.headers.get('content-type'));
    expect(server.sent[0]!.body).toContain('a.txt');
  });

  it('takes a Request, with its body and headers', async () => {
    const { server, options } = scripted(NETWORK_ERROR, CREATED);
    const request = new Request(URL, { ...POST, headers: { 'X-Trace': '7' } });
    const response = await idempotentFetch(request, undefined, options);

    expect(response.attempts).toBe(2);
    expect(server.sent.map(({ body, headers }) => [body, headers.get('x-trace')])).toEqual([
      [POST.body, '7'],
      [POST.body, '7'],
    ]);
  });

  it.each([
    ['', UUID],
    ['"quoted"', /^quoted$/],
  ])('gives a key with which one can go on, for the header %j', async (header, expected) => {
    const { options } = scripted(CREATED);
    const { key } = await idempotentFetch(URL, { ...POST, headers: { 'Idempotency-Key': header } }, options);

    expect(key).toMatch(expected);
    expect((await idempotentFetch(URL, POST, { ...options, key })).key).toBe(key);
  });

  it('sends what there was at the call, whatever is changed later', async () => {
    const { server, options } = scripted(NETWORK_ERROR, CREATED);
    const address = new globalThis.URL(URL);
    const init = { ...POST };
    const answering = idempotentFetch(address, init, options);
    address.pathname = '/other';
    init.method = 'DELETE';
    init.body = 'other';
    await answering;

    expect(server.sent.map(({ url, method, body }) => [url, method, body])).toEqual(
      [1, 2].map(() => [URL, 'POST', POST.body]),
    );
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no log');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no log'))],
  ])('gives its answer although `onAttempt` %s', async (_, onAttempt) => {
    const { options } = scripted(NETWORK_ERROR, CREATED);

    expect(await idempotentFetch(URL, POST, { ...options, onAttempt })).toMatchObject({
      status: 201,
      attempts: 2,
    });
  });

  it('does not wait for a body that does not come', async () => {
    const { options } = scripted(CREATED);
    const stalled = new Request(URL, {
      method: 'POST',
      body: new ReadableStream({ pull: () => new Promise(() => undefined) }),
      duplex: 'half',
    } as RequestInit);

    await expect(idempotentFetch(stalled, {}, { ...options, timeout: 100 })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });

  it('keeps a key that the headers have already', async () => {
    const { server, options } = scripted(NETWORK_ERROR, CREATED);
    const response = await idempotentFetch(URL, { ...POST, headers: { 'Idempotency-Key': 'mine' } }, options);

    expect(response.key).toBe('mine');
    expect(server.sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['mine', 'mine']);
  });

  it.each([
    ['bare', 'order-7', 'order-7'],
    ['structured', 'a "b" \\, c', '"a \\"b\\" \\\\, c"'],
  ] as const)('writes the key %s: %s', async (keyStyle, key, expected) => {
    const { server, options } = scripted(CREATED);
    const response = await idempotentFetch(URL, POST, { ...options, keyStyle, key, header: 'X-Key' });

    expect(response.key).toBe(key);
    expect(server.sent[0]!.headers.get('X-Key')).toBe(expected);
  });

  it.each([
    ['a handler whose 500 is replayed', problem(500, undefined, { 'Idempotent-Replayed': 'true' })],
    ['a conflict of the business', problem(409, 'ORDER_ALREADY_PAID')],
    ['a conflict without a code', new Response('taken', { status: 409 })],
    ['an unknown outcome', problem(409, 'IDEMPOTENCY_OUTCOME_UNKNOWN')],
    ['a bad request', problem(400, 'IDEMPOTENCY_KEY_REQUIRED')],
    ['a key for something else', problem(422, 'IDEMPOTENCY_KEY_REUSED')],
    ['a missing page', new Response('', { status: 404 })],
  ])('takes %s for the final answer', async (_, answer) => {
    const { server, options } = scripted(answer, CREATED);
    const response = await idempotentFetch(URL, POST, options);

    expect(response.status).toBe(answer.status);
    expect(await response.text()).toBe(await answer.clone().text());
    expect(server.sent).toHaveLength(1);
  });

  it("knows Stripe's way to say that a key is in use", async () => {
    const stripe = new Response(JSON.stringify({ error: { code: 'idempotency_key_in_use' } }), {
      status: 409,
    });
    const { options } = scripted(stripe, CREATED);

    expect(await idempotentFetch(URL, POST, options)).toMatchObject({ status: 201, attempts: 2 });
  });

  it('tries again when the answer is torn in the middle', async () => {
    const torn = new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"id":'));
          controller.error(new TypeError('terminated'));
        },
      }),
      { status: 201 },
    );
    const { options } = scripted(CREATED);
    let calls = 0;
    const fetch: typeof globalThis.fetch = async (...args) =>
      (calls += 1) === 1 ? torn : options.fetch(...args);
    const response = await idempotentFetch(URL, POST, { ...options, fetch });

    expect(response.attempts).toBe(2);
    expect(await response.json()).toEqual({ id: '1' });
  });

  it('tells of each attempt', async () => {
    const { options } = scripted(NETWORK_ERROR, IN_USE, CREATED);
    const reports: AttemptReport[] = [];
    await idempotentFetch(URL, POST, { ...options, onAttempt: (report) => reports.push(report) });

    expect(reports).toMatchObject([
      { attempt: 1, response: undefined, cause: NETWORK_ERROR, nextIn: expect.any(Number) },
      { attempt: 2, response: { status: 409 }, code: 'IDEMPOTENCY_KEY_IN_USE', nextIn: expect.any(Number) },
      { attempt: 3, response: { status: 201 }, nextIn: undefined },
    ]);
  });
});

async function pausesOf(options: object, ...scripts: Script[]): Promise<number[]> {
  const { server, options: quick } = scripted(...scripts);
  const pauses: number[] = [];
  const onAttempt = ({ nextIn }: AttemptReport): void => void (nextIn !== undefined && pauses.push(nextIn));
  await idempotentFetch(URL, POST, { ...quick, ...options, onAttempt }).catch(() => undefined);
  expect(server.sent).toHaveLength(pauses.length + 1);
  return pauses;
}

describe('the pause before the next attempt', () => {
  it('is random, below a bound that doubles up to its limit', async () => {
    const all = await Promise.all(
      Array.from({ length: 40 }, () =>
        pausesOf({ baseDelay: 4, maxDelay: 10, maxAttempts: 5 }, NETWORK_ERROR),
      ),
    );

    [4, 8, 10, 10].forEach((bound, index) => {
      const pauses = all.map((one) => one[index]!);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(bound);
      expect(Math.max(...pauses)).toBeGreaterThan(bound / 2);
      expect(Math.min(...pauses)).toBeLessThan(bound / 2);
    });
  });

  it('is what Retry-After says, in seconds or as a date by the clock of the server', async () => {
    const inSeconds = problem(503, undefined, { 'Retry-After': '1' });
    const byDate = problem(503, undefined, {
      Date: 'Mon, 30 Nov 2026 10:00:00 GMT',
      'Retry-After': 'Mon, 30 Nov 2026 10:00:01 GMT',
    });
    const pauses = await pausesOf({}, inSeconds, byDate, CREATED);

    expect(pauses).toEqual([1_000, 1_000]);
  });

  it.each(['Mon, 30 Nov 2015 10:00:00 GMT', 'soon', '-5', '1.5', '+1', '1, 1', 'soon 5', ''])(
    'is random where Retry-After is %j, which says nothing',
    async (value) => {
      const unreadable = problem(503, undefined, { 'Retry-After': value });
      const all = await Promise.all(
        Array.from({ length: 10 }, () => pausesOf({ baseDelay: 8 }, unreadable, CREATED)),
      );

      expect(Math.max(...all.flat())).toBeLessThanOrEqual(8);
      expect(all.flat().some((pause) => pause > 0)).toBe(true);
    },
  );

  it('may be longer than timers can count to', async () => {
    const nextMonth = problem(503, undefined, { 'Retry-After': '2678400' });
    const { server, options } = scripted(nextMonth, CREATED);
    const signal = AbortSignal.timeout(100);

    await expect(
      idempotentFetch(URL, { ...POST, signal }, { ...options, timeout: Infinity }),
    ).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect(server.sent).toHaveLength(1);
  });
});

describe('giving up', () => {
  it('names the key, the attempts and the last answer', async () => {
    const { server, options } = scripted(NETWORK_ERROR, problem(502));
    const error = await failureOf(idempotentFetch(URL, POST, { ...options, key: 'order-7', maxAttempts: 3 }));

    expect(error).toBeInstanceOf(IdempotentFetchError);
    expect(error).toMatchObject({
      code: 'IDEMPOTENT_FETCH_GAVE_UP',
      key: 'order-7',
      attempts: 3,
      outcomeUnknown: true,
    });
    expect(error.message).toBe(
      'POST http://shop.test/orders was given up after 3 attempts (502). Its outcome is unknown: go on with the same key.',
    );
    expect(error.response?.status).toBe(502);
    expect(await error.response!.json()).toMatchObject({ status: 502 });
    expect(server.sent).toHaveLength(3);
  });

  it.each<[string, Script[], boolean]>([
    ['a network error', [NETWORK_ERROR], true],
    ['a key in use', [IN_USE], true],
    ['an unavailable store', [problem(503, 'IDEMPOTENCY_STORE_UNAVAILABLE')], false],
    ['a rollback', [problem(503, 'IDEMPOTENCY_NOT_COMMITTED')], false],
    ['a limit of requests', [problem(429)], false],
    ['a limit of requests after a network error', [NETWORK_ERROR, problem(429)], true],
  ])('after %s says whether the outcome is unknown', async (_, scripts, outcomeUnknown) => {
    const { options } = scripted(...scripts);
    const error = await failureOf(idempotentFetch(URL, POST, { ...options, maxAttempts: 2 }));

    expect(error).toMatchObject({ outcomeUnknown });
  });

  it('comes with the cause of the last attempt', async () => {
    const { options } = scripted(NETWORK_ERROR);
    const error = await failureOf(idempotentFetch(URL, POST, { ...options, maxAttempts: 1 }));

    expect(error.cause).toBe(NETWORK_ERROR);
    expect(error.response).toBeUndefined();
  });

  it('does not wait for what would be too late', async () => {
    const { server, options } = scripted(problem(503, undefined, { 'Retry-After': '3600' }));
    const error = await failureOf(idempotentFetch(URL, POST, options));

    expect(error.attempts).toBe(1);
    expect(server.sent).toHaveLength(1);
  });
});

describe('time', () => {
  it('an attempt that takes too long is broken off, and followed by another one', async () => {
    const { server, options } = scripted('silence', CREATED);
    const response = await idempotentFetch(URL, POST, { ...options, attemptTimeout: 50 });

    expect(response).toMatchObject({ status: 201, attempts: 2 });
    expect(server.sent).toHaveLength(2);
  });

  it('all attempts together take no longer than `timeout`', async () => {
    const { options } = scripted('silence');
    const error = await failureOf(
      idempotentFetch(URL, POST, { ...options, attemptTimeout: 40, timeout: 200, maxAttempts: 99 }),
    );

    expect(error.attempts).toBeGreaterThan(1);
    expect(error.attempts).toBeLessThan(10);
    expect(error.cause).toMatchObject({ name: 'TimeoutError' });
  });

  it("the caller's signal ends an attempt, with its reason", async () => {
    const { server, options } = scripted('silence');
    const reason = new Error('The user has left.');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);

    await expect(idempotentFetch(URL, { ...POST, signal: controller.signal }, options)).rejects.toBe(reason);
    expect(server.sent).toHaveLength(1);
  });

  it("the caller's signal ends a pause", async () => {
    const { server, options } = scripted(problem(503, undefined, { 'Retry-After': '30' }));
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);

    await expect(idempotentFetch(URL, { ...POST, signal: controller.signal }, options)).rejects.toMatchObject(
      {
        name: 'AbortError',
      },
    );
    expect(server.sent).toHaveLength(1);
  });

  it('nothing is sent when the signal is aborted already', async () => {
    const { server, options } = scripted(CREATED);

    await expect(
      idempotentFetch(URL, { ...POST, signal: AbortSignal.abort() }, options),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(server.sent).toHaveLength(0);
  });
});

describe('is refused', () => {
  it.each([
    ['a web stream', new ReadableStream()],
    ["a stream of Node's", Readable.from(['a'])],
    ['a generator', (async function* () {})()],
  ])('%s as a body', async (_, body) => {
    const { server, options } = scripted(CREATED);

    await expect(idempotentFetch(URL, { method: 'POST', body: body as never }, options)).rejects.toThrow(
      /A stream can be sent only once: read it first/,
    );
    expect(server.sent).toHaveLength(0);
  });

  it.each([
    ['an empty key', { key: '' }, 'A key must be 1 to 255 printable ASCII characters.'],
    ['a key that is too long', { key: 'k'.repeat(256) }, 'must be 1 to 255'],
    ['a key with an umlaut', { key: 'schlüssel' }, 'must be 1 to 255'],
    ['a bare key with a comma', { key: 'a,b' }, "needs keyStyle 'structured'"],
    ['no attempt', { maxAttempts: 0 }, '`maxAttempts` is 0: it must be a number above 0.'],
    ['a time-out that is no number', { timeout: '3s' as never }, '`timeout` is 3s'],
    ['a number in a text', { timeout: '3' as never }, '`timeout` is 3'],
    ['an unknown style', { keyStyle: 'quoted' as never }, '`keyStyle` is quoted'],
  ])('%s', async (_, wrong, message) => {
    const { server, options } = scripted(CREATED);

    await expect(idempotentFetch(URL, POST, { ...options, ...wrong })).rejects.toThrow(message);
    expect(server.sent).toHaveLength(0);
  });

  it.each<[string, string, RequestInit]>([
    ['an address that is none', 'http://', POST],
    ['a method that is none', URL, { method: 'P OST' }],
    ['a body without a method for it', URL, { body: 'kibble' }],
  ])('%s, before anything is sent', async (_, address, init) => {
    const { server, options } = scripted(CREATED);

    await expect(idempotentFetch(address, init, options)).rejects.toMatchObject({ name: 'TypeError' });
    expect(server.sent).toHaveLength(0);
  });
});
