import { nothingDone } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpException, ServiceUnavailableException } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';

import { abandon } from '../support/abandoned-attempt.js';
import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds after which work that was due would have run. */
const LONG_ENOUGH = 300;

onEachAdapterInEachMode((adapter, mode) => {
  let app: ScriptedApp;
  let calls: string[];

  beforeAll(async () => {
    app = await startScriptedApp({ adapter, handler: { mode, onAbandoned: 'retry' } });
  });
  afterAll(() => closeClean(app));
  beforeEach(() => {
    calls = [];
  });

  /** The same handler with the work added first, and the status that its client got. */
  async function statusOf(script: Script): Promise<number> {
    const { status } = await app.run((input) => {
      input.context.afterCommit(() => calls.push('ran'));
      return script(input);
    });
    await sleep(LONG_ENOUGH);
    return status;
  }

  it('work after the commit does not run when the handler has released its key', async () => {
    expect(await statusOf(({ context }) => context.release())).toBe(201);
    expect(calls).toEqual([]);
  });

  it('it does not run when the handler declares that nothing was done', async () => {
    const status = await statusOf(() => {
      throw nothingDone(new ServiceUnavailableException());
    });

    expect(status).toBe(503);
    expect(calls).toEqual([]);
  });

  if (mode === 'transaction') {
    it.each([500, 402, 429])(
      'it does not run when the handler threw %i and was rolled back',
      async (code) => {
        const refuse: Script = () => {
          throw new HttpException('no', code);
        };

        expect(await statusOf(refuse)).toBe(code);
        expect(calls).toEqual([]);
      },
    );

    it('it does not run when the transaction could not be committed', async () => {
      const status = await statusOf(() => app.dataSource.query('SELECT 1 / 0').catch(() => 'done'));

      expect(status).toBe(500);
      expect(calls).toEqual([]);
    });
  } else {
    it('it does not run for an attempt that another one has taken over, and runs for that one', async () => {
      const { key, revive } = await abandon(app, async ({ context }, die) => {
        context.afterCommit(() => calls.push('of the stale one'));
        await die();
      });
      await app.run(({ context }) => context.afterCommit(() => calls.push('of the new one')), { key });
      await revive();
      await sleep(LONG_ENOUGH);

      expect(calls).toEqual(['of the new one']);
    });

    it('it runs for an answer of 500 that the handler gave, and that is stored', async () => {
      const status = await statusOf(({ response }) => {
        (response.code ?? response.status).call(response, 500);
        return 'out of luck';
      });

      expect(status).toBe(500);
      expect(calls).toEqual(['ran']);
    });
  }
});

onEachAdapter((adapter) => {
  describe('when the network fails', () => {
    let database: TestDatabase;
    let proxy: PostgresProxy;
    let apps: Record<'transaction' | 'lease', ScriptedApp>;
    let calls: string[];

    beforeAll(async () => {
      database = await createTestDatabase();
      proxy = await startPostgresProxy(database.url);
      const options = { adapter, database, dataSource: { url: proxy.url } };
      const handler = { storeTimeout: '1s', lockTtl: '10s' } as const;
      apps = {
        transaction: await startScriptedApp({ ...options, handler: { ...handler, mode: 'transaction' } }),
        lease: await startScriptedApp({ ...options, handler: { ...handler, mode: 'lease' } }),
      };
    });
    afterAll(async () => {
      await closeClean(apps.transaction);
      await apps.lease.close();
      await proxy.close();
      await database.drop();
    });
    beforeEach(() => {
      calls = [];
    });
    afterEach(() => proxy.recover());

    const work: Script = ({ context }) => {
      context.afterCommit(() => calls.push('ran'));
      return 'created';
    };

    it('the answer to COMMIT is lost and it was committed: work after the commit runs once', async () => {
      proxy.onCommit('unanswered');
      const answer = await apps.transaction.run(work);
      await sleep(LONG_ENOUGH);

      expect(answer.status).toBe(201);
      expect(calls).toEqual(['ran']);
    });

    it('COMMIT is lost: it does not run, and runs once with the retry', async () => {
      const key = newKey();
      proxy.onCommit('lost');
      const first = await apps.transaction.run(work, { key });
      await sleep(LONG_ENOUGH);
      const before = [...calls];
      const second = await apps.transaction.post({ key });
      await sleep(LONG_ENOUGH);

      expect([first.status, second.status]).toEqual([503, 201]);
      expect(before).toEqual([]);
      expect(calls).toEqual(['ran']);
    });

    it('it is not known whether COMMIT arrived: it does not run', async () => {
      proxy.onCommit('lost', () => proxy.goDown());
      const answer = await apps.transaction.run(work);
      proxy.recover();
      await sleep(LONG_ENOUGH);

      expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
      expect(calls).toEqual([]);
    });

    it('C25: the response leaves before its record can be written: it runs when that is written, and not before', async () => {
      const key = newKey();
      const answer = await apps.lease.run(
        (input) => {
          proxy.goDown();
          return work(input);
        },
        { key },
      );
      await sleep(LONG_ENOUGH);
      const before = [...calls];
      proxy.recover();
      await eventually(() => expect(calls).toEqual(['ran']));
      const record = await apps.lease.records.findOneByOrFail({ key });

      expect(answer.status).toBe(201);
      expect(before).toEqual([]);
      expect(record.completedAt).not.toBeNull();
    });
  });
});
