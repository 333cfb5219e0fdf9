import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { Deployment } from '../processes/deployment.js';
import type { ServerProcess } from '../processes/server-process.js';
import { stallDuring } from '../processes/stalled-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import { recordedSteps } from '../support/lapsed-lease.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';

onEachAdapter((adapter) => {
  describe('a process that was stopped until another one had taken its attempt over', () => {
    let deployment: Deployment;
    let second: ServerProcess;

    beforeAll(async () => {
      deployment = await Deployment.create(adapter, { lockTtl: '2s', transactionTimeout: '60s' });
      second = await deployment.start('the second');
    });
    afterAll(() => deployment.close());
    beforeEach(() => deployment.clear());
    afterEach(() => deployment.kill('the first'));

    async function waitingForLocks(): Promise<number> {
      const [row] = await deployment.observer.dataSource.query<[{ waiting: number }]>(
        `SELECT count(*)::int AS waiting FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return row.waiting;
    }

    const steps = ({ key }: { key: string }) => recordedSteps(deployment.observer, key);

    it('C31: between two steps: its transactionalStep() is rolled back, and the other one goes on', async () => {
      const { request, wake } = await stallDuring('/steps', deployment);
      await deployment.leaseHasLapsed(request);
      const taking = await second.hold(request);
      const late = await wake();
      const meanwhile = { steps: await steps(request), effects: await deployment.effects() };
      second.letGo();
      const taken = (await taking.answer)!;

      expectProblem(late, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
      expect(meanwhile).toEqual({
        steps: { charge: { result: 'charge by the first' } },
        effects: ['charge by the first'],
      });
      expect(taken.status).toBe(201);
      expect(taken.json()).toEqual({ charge: 'charge by the first', order: 'order by the second' });
      expect(await deployment.effects()).toEqual(['charge by the first', 'order by the second']);
    });

    it('C31: inside a step(), after its effect: cannot record it and does not go on, and its client gets the result of the other', async () => {
      const { request, wake } = await stallDuring('/in-charge', deployment);
      await deployment.leaseHasLapsed(request);
      const taken = await second.execute(request);
      const before = await deployment.record(request);
      const late = await wake();

      expect(taken.json()).toEqual({ charge: 'charge by the second', order: 'order by the second' });
      expectReplay(late, taken);
      expect(await deployment.record(request)).toEqual(before);
      expect(await steps(request)).toEqual({ charge: { result: 'charge by the second' } });
      // The charge is what no record can undo; what comes after it was not begun.
      expect(await deployment.effects()).toEqual([
        'charge by the first',
        'charge by the second',
        'order by the second',
      ]);
    });

    it('C31: inside a transactionalStep() that is still open: loses its rows at the commit', async () => {
      const { request, wake } = await stallDuring('/in-step', deployment);
      await deployment.leaseHasLapsed(request);
      const taken = await second.execute(request);
      const before = await deployment.record(request);
      const late = await wake();

      expect(taken.text).toBe('reservation by the second');
      expectReplay(late, taken);
      expect(await deployment.record(request)).toEqual(before);
      expect(await steps(request)).toEqual({ reserve: { result: 'reservation by the second' } });
      expect(await deployment.effects()).toEqual(['reservation by the second']);
    });

    it('C29, C31: inside a transactionalStep() with a row locked: holds the other up for transactionTimeout and no longer', async () => {
      await deployment.observer.effects.save({ name: 'seat' });
      const { request, wake } = await stallDuring('/in-step', deployment, { transactionTimeout: '6s' });
      await deployment.leaseHasLapsed(request);
      const taking = second.execute(request);
      await eventually(async () => expect(await waitingForLocks()).toBe(1));
      const taken = await taking;
      const late = await wake();

      expect(taken.text).toBe('reservation by the second');
      expectReplay(late, taken);
      expect(await steps(request)).toEqual({ reserve: { result: 'reservation by the second' } });
      expect((await deployment.effects()).toSorted()).toEqual(['reservation by the second', 'seat']);
    });
  });
});
