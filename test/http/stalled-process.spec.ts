import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { blockDuring } from '../processes/blocked-attempt.js';
import { Deployment } from '../processes/deployment.js';
import type { ServerProcess } from '../processes/server-process.js';
import { stallAttempts, stallDuring } from '../processes/stalled-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';

const BY_SECOND = { by: 'the second', attempt: 2, mode: 'lease' };

onEachAdapter((adapter) => {
  /** Beside the second server there is a first one, which stands still for longer than its claim lasts. */
  let deployment: Deployment;
  let second: ServerProcess;

  beforeAll(async () => {
    deployment = await Deployment.create(adapter, { lockTtl: '2s', transactionTimeout: '60s' });
    second = await deployment.start('the second');
  });
  afterAll(() => deployment.close());
  beforeEach(() => deployment.clear());
  afterEach(() => deployment.kill('the first'));

  it('C29: a process is stopped under a lease: the outcome is unknown until it goes on, and its late result then counts for all', async () => {
    const { server: first, request, wake } = await stallDuring('/lease', deployment);
    const early = await second.post(request);
    await deployment.leaseHasLapsed(request);
    const meanwhile = await second.post(request);
    const late = await wake();

    expectProblem(early, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expectProblem(meanwhile, 409, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    expect(late.status).toBe(201);
    expect(late.json()).toEqual({ by: 'the first', attempt: 1, mode: 'lease' });
    expectReplay(await second.post(request), late);
    expectReplay(await first.post(request), late);
    expect(await deployment.effects()).toEqual(['begun by the first', 'done by the first']);
  });

  it('C29: a process is stopped in the middle of a transaction: the server ends it after transactionTimeout, and only the retry counts', async () => {
    const stalled = await stallDuring('/transaction', deployment, { transactionTimeout: '4s' });
    const { server: first, request, wake } = stalled;
    const early = await second.post(request);
    const retried = await eventually(() => second.execute(request), 15_000);
    const late = await wake();
    // It ends once its handler has gone on to its own end.
    first.child.signal('SIGTERM');
    await first.child.ended;

    expectProblem(early, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(retried.status).toBe(201);
    expect(retried.json()).toEqual({ by: 'the second', attempt: 1, mode: 'transaction' });
    expectProblem(late, 503, 'IDEMPOTENCY_NOT_COMMITTED');
    expectReplay(await second.post(request), retried);
    expect(await deployment.effects()).toEqual(['begun by the second', 'done by the second']);
  });

  describe.each([
    { what: 'a process that was stopped', interrupt: stallDuring },
    { what: 'a process whose event loop was blocked', interrupt: blockDuring },
  ])('$what until another one had taken its attempt over', ({ interrupt }) => {
    it('C29, C31: cannot record its own result, and its client gets the one that is recorded', async () => {
      const { server: first, request, wake } = await interrupt('/retried-lease', deployment);
      await deployment.leaseHasLapsed(request);
      const taken = await second.execute(request);
      const before = await deployment.record(request);
      const late = await wake();

      expect(taken.status).toBe(201);
      expect(taken.json()).toEqual(BY_SECOND);
      expectReplay(late, taken);
      expect(await deployment.record(request)).toEqual(before);
      expectReplay(await second.post(request), taken);
      expectReplay(await first.post(request), taken);
    });

    it('C31: is told that the outcome is unknown while that one still runs, whose result is what counts', async () => {
      const { server: first, request, wake } = await interrupt('/retried-lease', deployment);
      await deployment.leaseHasLapsed(request);
      const taking = await second.hold(request);
      const late = await wake();
      const meanwhile = await first.post(request);
      second.letGo();
      const taken = (await taking.answer)!;

      expectProblem(late, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
      expect(late.headers['retry-after']).toBe('1');
      expectProblem(meanwhile, 409, 'IDEMPOTENCY_KEY_IN_USE');
      expect(taken.status).toBe(201);
      expect(taken.json()).toEqual(BY_SECOND);
      expectReplay(await first.post(request), taken);
      expectReplay(await second.post(request), taken);
    });
  });

  it('C31, C32: a stopped process with several attempts neither prolongs nor completes the leases of one that took them over', async () => {
    // More than one, since what a process renews or completes at the same time is one statement.
    const { server: first, requests, wake } = await stallAttempts(8, '/retried-lease', deployment);
    const eachHasLapsed = () => Promise.all(requests.map((request) => deployment.leaseHasLapsed(request)));
    const records = () => Promise.all(requests.map((request) => deployment.record(request)));
    await eachHasLapsed();
    const taking = await second.holdAll(requests);
    // Its own renewals would hide those of the first one.
    second.stall();
    await eachHasLapsed();
    const before = await records();
    first.resume();
    await eventually(() => expect(first.child.output.match(/A lease was lost/g)).toHaveLength(8));
    const afterRenewals = await records();
    const late = await wake();
    const afterCompletions = await records();
    second.resume();
    second.letGo();
    const taken = await taking.answers;

    expect(afterRenewals).toEqual(before);
    expect(afterCompletions).toEqual(before);
    for (const [index, request] of requests.entries()) {
      expect(before[index]).toMatchObject({ attempt: 2, completedAt: null });
      expectProblem(late[index]!, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
      expect(taken[index]!.json()).toEqual(BY_SECOND);
      expectReplay(await first.post(request), taken[index]!);
    }
  });
});
