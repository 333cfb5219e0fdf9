import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapter((adapter) => {
  describe('a transaction that is open for longer than transactionTimeout', () => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({ adapter, handler: { transactionTimeout: '700ms', storeTimeout: '2s' } });
    });
    afterAll(() => closeClean(app));
    beforeEach(async () => {
      await Promise.all([app.effects.clear(), app.records.clear()]);
      app.log.clear();
    });

    const save = (name: string) => app.effects.save({ name });
    const names = async () => (await app.effects.find()).map(({ name }) => name);

    it('is rolled back: the client is told at once, the key is free, and the handler writes no more', async () => {
      const key = newKey();
      let late: Promise<string> | undefined;
      const answer = await app.run(
        async () => {
          await save('in time');
          late = sleep(1_500)
            .then(() => save('late'))
            .then(
              () => 'written',
              ({ driverError, message }) => String(driverError ?? message),
            );
          await late;
        },
        { key },
      );
      const retried = await app.run(() => save('retried'), { key });

      expect(answer.status).toBe(503);
      expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
      expect(answer.headers['retry-after']).toBe('1');
      expect(app.log.messages('error').join()).toMatch('open for longer than `transactionTimeout` (700 ms)');
      expect(retried.status).toBe(201);
      expect(await late).toMatch('AmbientTransactionError: The transaction of this request');
      expect(await names()).toEqual(['retried']);
    });

    it('is rolled back also while one of its statements waits for a lock, and the key is free', async () => {
      const key = newKey();
      await app.dataSource.query(`INSERT INTO effects VALUES (1000, 'locked')`);
      const [answer, retried] = await withClient(app.database.url, async (client) => {
        await client.query('BEGIN; SELECT FROM effects WHERE id = 1000 FOR UPDATE');
        const first = await app.run(() => app.effects.update({ id: 1000 }, { name: 'changed' }), { key });
        await sleep(300);
        return [first, await app.run(() => save('retried'), { key })];
      });

      expect(answer!.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
      expect(retried!.status).toBe(201);
      expect((await names()).toSorted()).toEqual(['locked', 'retried']);
    });

    it('is ended by the server too, where a process hangs and its timer does not fire', async () => {
      const key = newKey();
      const answer = await app.run(
        async () => {
          await save('in time');
          const until = Date.now() + 1_200;
          while (Date.now() < until);
          const { rows } = await withClient(app.database.url, (client) =>
            client.query(`SELECT FROM pg_stat_activity WHERE state = 'idle in transaction'`),
          );
          return { open: rows.length };
        },
        { key },
      );
      const retried = await app.run(() => save('retried'), { key });

      expect(answer.status).toBe(503);
      expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
      expect(retried.status).toBe(201);
      expect(await names()).toEqual(['retried']);
    });

    it('limits the session for the length of the transaction alone, and sets no other limit', async () => {
      const settings = async () =>
        (
          await app.dataSource.query(
            `SELECT current_setting('idle_in_transaction_session_timeout') AS idle,
                    current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement`,
          )
        )[0];
      const before = await settings();
      const answer = await app.run(settings);

      expect(answer.json()).toEqual({ ...before, idle: '700ms' });
      expect(before.idle).toBe('0');
      expect(await settings()).toEqual(before);
    });
  });
});
