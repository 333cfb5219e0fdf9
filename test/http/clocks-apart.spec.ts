import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { Deployment } from '../processes/deployment.js';
import type { ServerProcess, WorkRequest } from '../processes/server-process.js';
import { onEachAdapter } from '../support/adapters.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { endRetention } from '../support/lapsed-lease.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';

/** Milliseconds. */
const HOUR = 3_600_000;
const LOCK_TTL = 2_000;
const SHORT_TTL = 6_000;

type ServerName = 'ahead' | 'behind';

const PAIRS: { one: ServerName; other: ServerName }[] = [
  { one: 'ahead', other: 'behind' },
  { one: 'behind', other: 'ahead' },
];

const requestOf = (path: WorkRequest['path'], body: WorkRequest['body'] = {}): WorkRequest => ({
  key: newKey(),
  path,
  body,
});

onEachAdapter((adapter) => {
  describe('two servers of one application, whose clocks are an hour ahead and an hour behind', () => {
    let deployment: Deployment;
    let servers: Record<ServerName, ServerProcess>;

    async function deploy(options: { ttl: number }) {
      deployment = await Deployment.create(adapter, { lockTtl: LOCK_TTL, ...options });
      const [ahead, behind] = await Promise.all([
        deployment.start('ahead', { clockOffset: HOUR }),
        deployment.start('behind', { clockOffset: -HOUR }),
      ]);
      servers = { ahead, behind };
    }

    // Less than the clocks are wrong by, so that the one ahead would take all records for expired.
    describe('with a ttl of half an hour', () => {
      beforeAll(() => deploy({ ttl: HOUR / 2 }));
      afterAll(() => deployment.close());
      beforeEach(() => deployment.clear());
      // Also after a test that failed.
      afterEach(() => {
        for (const server of Object.values(servers)) {
          server.resume();
          server.letGo();
        }
      });

      it.each([
        { name: 'ahead', offset: HOUR },
        { name: 'behind', offset: -HOUR },
      ] as const)(
        'C33: the clock of the one $name is wrong, wherever it is asked',
        async ({ name, offset }) => {
          const before = Date.now() + offset;
          const { now, date } = await servers[name].clock();
          const after = Date.now() + offset;

          expect(now).toBeGreaterThanOrEqual(before);
          expect(now).toBeLessThanOrEqual(after);
          expect(Date.parse(date)).toBeGreaterThanOrEqual(before);
          expect(Date.parse(date)).toBeLessThanOrEqual(after);
        },
      );

      it.each(PAIRS)('C33: the one $other waits for a live lease of the one $one', async ({ one, other }) => {
        const request = requestOf('/retried-lease', { hold: true });
        const { answer } = await servers[one].hold(request);
        const early = await servers[other].post(request);
        const claimed = await deployment.record(request);
        await eventually(async () => {
          const { lockExpiresAt } = await deployment.record(request);
          expect(lockExpiresAt!.getTime()).toBeGreaterThan(claimed.lockExpiresAt!.getTime());
        });
        const afterRenewal = await servers[other].post(request);
        servers[one].letGo();

        expectProblem(early, 409, 'IDEMPOTENCY_KEY_IN_USE');
        expectProblem(afterRenewal, 409, 'IDEMPOTENCY_KEY_IN_USE');
        expect((await answer)!.json()).toEqual({ by: one, attempt: 1, mode: 'lease' });
        expect(await deployment.effects()).toEqual([`begun by ${one}`, `done by ${one}`]);
      });

      it.each(PAIRS)(
        'C33: the one $other takes over from the one $one when the lease has lapsed, neither earlier nor an hour later',
        async ({ one, other }) => {
          const request = requestOf('/retried-lease', { hold: true });
          const { answer } = await servers[one].hold(request);
          servers[one].stall();
          const early = await servers[other].post(request);
          const stalled = await deployment.record(request);
          const taking = await eventually(() => servers[other].hold(request), 15_000);
          const takenOver = await deployment.record(request);
          servers[other].letGo();
          const taken = (await taking.answer)!;
          servers[one].resume();
          servers[one].letGo();

          expectProblem(early, 409, 'IDEMPOTENCY_KEY_IN_USE');
          expect(taken.json()).toEqual({ by: other, attempt: 2, mode: 'lease' });
          // By the database's clock: the new lease is as long as the old one, and began after its end.
          const begin = takenOver.lockExpiresAt!.getTime() - LOCK_TTL;
          expect(begin).toBeGreaterThanOrEqual(stalled.lockExpiresAt!.getTime());
          expectReplay((await answer)!, taken);
        },
      );

      it.each(['ahead', 'behind'] as const)(
        'C33: a purge by the one %s removes what has expired and nothing else',
        async (name) => {
          const held = requestOf('/retried-lease', { hold: true });
          const { answer } = await servers.behind.hold(held);
          const done = [requestOf('/transaction'), requestOf('/lease')];
          const expired = requestOf('/transaction');
          const first = await Promise.all(done.map((request) => servers.behind.post(request)));
          await servers.behind.post(expired);
          await endRetention(deployment.observer, expired.key);
          const removed = await servers[name].purge();
          servers.behind.letGo();
          const replayed = await Promise.all(done.map((request) => servers.ahead.post(request)));

          expect(removed).toBe(1);
          expect(await deployment.observer.records.countBy({ key: expired.key })).toBe(0);
          expect((await answer)!.status).toBe(201);
          expectReplay(await servers.ahead.post(held), (await answer)!);
          replayed.forEach((answered, index) => expectReplay(answered, first[index]!));
        },
      );
    });

    describe('with a ttl of some seconds', () => {
      beforeAll(() => deploy({ ttl: SHORT_TTL }));
      afterAll(() => deployment.close());
      beforeEach(() => deployment.clear());

      it.each(PAIRS)(
        'C33: both replay what the one $one has recorded, until the ttl is over; then the one $other executes it anew',
        async ({ one, other }) => {
          const requests = [requestOf('/transaction'), requestOf('/lease')];
          const postAll = (name: ServerName) =>
            Promise.all(requests.map((request) => servers[name].post(request)));
          const first = await postAll(one);
          const replayed = { one: await postAll(one), other: await postAll(other) };
          await Promise.all(requests.map((request) => deployment.retentionHasEnded(request)));
          const again = await postAll(other);

          for (const [index, answer] of first.entries()) {
            expect(answer.json()).toMatchObject({ by: one });
            expectReplay(replayed.one[index]!, answer);
            expectReplay(replayed.other[index]!, answer);
            expect(again[index]!.status).toBe(201);
            expect(again[index]!.json()).toMatchObject({ by: other, attempt: 1 });
            expect(again[index]!.headers).not.toHaveProperty('idempotent-replayed');
          }
        },
      );
    });
  });
});
