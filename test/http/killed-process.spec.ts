import { IdempotencyService } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { ServerProcess, type WorkRequest } from '../processes/server-process.js';
import { onEachAdapter } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import type { HttpResponse } from '../support/http.js';
import { newKey, startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';

/** Milliseconds. */
const LOCK_TTL = 2_000;

onEachAdapter((adapter) => {
  /** Has the database; takes no requests. */
  let observer: IdempotentApp;
  /** Two servers of one application; the first one dies. */
  let first: ServerProcess;
  let second: ServerProcess;

  const start = (name: string) => {
    const options = { lockTtl: LOCK_TTL, transactionTimeout: '60s' } as const;
    return ServerProcess.start({ name, adapter, options, databaseUrl: observer.database.url });
  };

  beforeAll(async () => {
    observer = await startIdempotentApp({ adapter });
    second = await start('the second');
  });
  afterAll(async () => {
    await second.child.kill();
    await observer.close();
  });
  beforeEach(async () => {
    first = await start('the first');
    await observer.effects.clear();
  });
  afterEach(() => first.child.kill());

  const effects = async () => (await observer.effects.find({ order: { id: 'ASC' } })).map(({ name }) => name);

  /** The first server dies in the middle of the handler, and its client hears nothing. */
  async function dieDuring(path: WorkRequest['path']): Promise<WorkRequest> {
    const request = { key: newKey(), path, body: { hold: true } };
    const { answer } = await first.hold(request);
    await first.child.kill();
    expect(await answer).toBeUndefined();
    return request;
  }

  /** The handler of the retry stands still, too, and is let go. */
  async function retry(request: WorkRequest): Promise<HttpResponse> {
    const { answer } = await second.hold(request);
    second.letGo();
    return (await answer)!;
  }

  const leaseHasLapsed = ({ key, path }: WorkRequest) =>
    eventually(async () => {
      const target = { scope: null, operation: `POST ${path}`, key };
      const record = await observer.app.get(IdempotencyService).find(target);
      expect(record).toMatchObject({ state: 'abandoned' });
    });

  it('C29: a process is killed in the middle of a transaction: the key is free at once, and only the retry counts', async () => {
    const request = await dieDuring('/transaction');
    // At once: the server needs a moment to see that the connection is closed, and no more.
    const answer = await eventually(() => retry(request), 1_000);

    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual({ by: 'the second', attempt: 1, mode: 'transaction' });
    expect(await effects()).toEqual(['begun by the second', 'done by the second']);
  });

  it('C29: a process is killed under a lease: 409 until that has run out, then the outcome is unknown, and nothing is repeated', async () => {
    const request = await dieDuring('/lease');
    const early = await second.post(request);
    await leaseHasLapsed(request);
    const late = await second.post(request);

    expectProblem(early, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(early.headers['retry-after']).toBe('1');
    expectProblem(late, 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    expect(late.headers).not.toHaveProperty('retry-after');
    expect(await effects()).toEqual(['begun by the first']);
  });

  it(`C29: the same where onAbandoned is 'retry': after the lease one retry executes`, async () => {
    const request = await dieDuring('/retried-lease');
    const early = await second.post(request);
    await leaseHasLapsed(request);
    const late = await retry(request);

    expectProblem(early, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(late.json()).toEqual({ by: 'the second', attempt: 2, mode: 'lease' });
    expect(await effects()).toEqual(['begun by the first', 'begun by the second', 'done by the second']);
  });

  it('C29: a process is killed between two steps: the retry gets the result of the first, and runs the second', async () => {
    const request = await dieDuring('/steps');
    await leaseHasLapsed(request);
    const answer = await retry(request);

    expect(answer.json()).toEqual({ charge: 'charge by the first', order: 'order by the second' });
    expect(await effects()).toEqual(['charge by the first', 'order by the second']);
  });
});
