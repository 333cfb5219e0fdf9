import { InMemoryIdempotencyStore, type InMemoryStoreOptions } from '@exactly-once/nestjs';
import { afterEach, expect, it } from '@jest/globals';

import { startStoreApp, type StoreApp } from '../stores/store-app.js';
import { onEachAdapter } from '../support/adapters.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';

onEachAdapter((adapter) => {
  let app: StoreApp;
  let store: InMemoryIdempotencyStore;

  const start = async (options: InMemoryStoreOptions = {}) => {
    store = new InMemoryIdempotencyStore(options);
    app = await startStoreApp({ adapter, store, options: { purge: false } });
  };
  afterEach(() => app.close());

  it('a full store refuses new keys, and drops neither what is live nor what is completed', async () => {
    await start({ maxEntries: 2 });
    const [completed, live, refused] = [newKey(), newKey(), newKey()];
    const gate = new Gate();
    app.handle(async () => {
      await gate.pass();
      return { executions: app.executions() };
    });
    const first = await app.post({ key: completed });
    gate.close();
    const running = app.post({ key: live });
    await gate.arrival();
    expectProblem(await app.post({ key: refused }), 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
    expectProblem(await app.post({ key: live }), 409, 'IDEMPOTENCY_KEY_IN_USE');
    gate.open();

    expectReplay(await app.post({ key: live }), await running);
    expectReplay(await app.post({ key: completed }), first);
    expect(app.executions()).toBe(2);
    expect(store.size).toBe(2);
    expect(app.log.messages('error').join()).toMatch('could not claim a key of POST /');
  });

  it('what has expired makes room', async () => {
    await start({ maxEntries: 2 });
    const old = newKey();
    await app.post({ key: old });
    await app.post();
    store.moveClock('25h');
    const answer = await app.post();

    expect(answer.status).toBe(201);
    expect(store.size).toBe(1);
    expect(store.peek(old)).toBeUndefined();
  });

  it('an answer that does not fit is sent, recorded as unavailable, and warned of', async () => {
    await start({ maxBytes: '4kb' });
    const [large, small] = [newKey(), newKey()];
    app.handle(({ body }) => 'x'.repeat(body.size));
    const first = await app.post({ key: large, body: { size: 10_000 } });
    const retry = await app.post({ key: large, body: { size: 10_000 } });
    const other = await app.post({ key: small, body: { size: 100 } });

    expect({ status: first.status, length: first.body.length }).toEqual({ status: 201, length: 10_000 });
    expectProblem(retry, 409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE');
    expectReplay(await app.post({ key: small, body: { size: 100 } }), other);
    expect(app.executions()).toBe(2);
    expect(app.log.messages('warn').join()).toMatch(
      /answer of POST \/ was not recorded.*`maxBytes`.*IDEMPOTENCY_RESPONSE_UNAVAILABLE/s,
    );
  });

  it('claims that do not fit are refused, until records have expired', async () => {
    await start({ maxBytes: '2kb' });
    const answers = [];
    for (let sent = 0; sent < 6; sent += 1) answers.push(await app.post());
    store.moveClock('25h');
    const later = await app.post();

    expect(answers[0]!.status).toBe(201);
    expectProblem(answers.at(-1)!, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
    expect(later.status).toBe(201);
  });

  it('tests can look at a record, forget all of them, and let leases and retentions end', async () => {
    await start();
    const key = newKey();
    const gate = new Gate();
    gate.close();
    app.handle(() => gate.pass().then(() => 'done'));
    const answer = app.post({ key });
    await gate.arrival();
    const inFlight = store.peek(key);
    store.moveClock('31s');
    expectProblem(await app.post({ key }), 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    gate.open();
    const first = await answer;
    expectReplay(await app.post({ key }), first);
    const completed = store.peek(key);
    store.moveClock('25h');
    const anew = await app.post({ key });
    store.clear();

    expect(inFlight).toMatchObject({ key, scope: 'nobody', attempt: 1, completedAt: null, response: null });
    expect(completed).toMatchObject({ response: { status: 201, body: Buffer.from('done') } });
    expect(anew.headers).not.toHaveProperty('idempotent-replayed');
    expect(app.executions()).toBe(2);
    expect(store.size).toBe(0);
    expect(store.peek(key)).toBeUndefined();
  });

  it('a handler that writes to its buffer after the answer does not change what was recorded', async () => {
    await start();
    const key = newKey();
    const bytes = Buffer.from('first');
    app.handle(({ response }) => {
      response.header('Content-Type', 'application/octet-stream');
      return adapter === 'express' ? void response.end(bytes) : void response.send(bytes);
    });
    const first = await app.post({ key });
    bytes.fill('x');

    expect(first.text).toBe('first');
    expectReplay(await app.post({ key }), first);
  });
});
