import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds. */
const STORE_TIMEOUT = 1_000;

/**
 * Makes writes to the table of records fail, as long as the table `faults` says. A sequence counts, since
 * whatever else a failing statement writes is undone.
 */
const FAULTS = `
  CREATE TABLE faults (event text, times integer);
  CREATE SEQUENCE fault_count MINVALUE 0 START 0;
  CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE allowed integer;
  BEGIN
    SELECT times INTO allowed FROM faults WHERE event = TG_ARGV[0];
    IF allowed IS NOT NULL AND nextval('fault_count') < allowed THEN
      RAISE EXCEPTION 'the record cannot be written';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER fail_insert BEFORE INSERT ON idempotency_records FOR EACH ROW
    WHEN (NEW.completed_at IS NOT NULL) EXECUTE FUNCTION fail('record');
  CREATE TRIGGER fail_completion BEFORE UPDATE ON idempotency_records FOR EACH ROW
    WHEN (NEW.completed_at IS NOT NULL) EXECUTE FUNCTION fail('record');
  CREATE TRIGGER fail_renewal BEFORE UPDATE ON idempotency_records FOR EACH ROW
    WHEN (NEW.completed_at IS NULL) EXECUTE FUNCTION fail('renewal');
  CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.8); RETURN NEW; END $$;
  CREATE TRIGGER slow_completion BEFORE UPDATE ON idempotency_records FOR EACH ROW
    WHEN (NEW.completed_at IS NOT NULL AND NEW.key LIKE 'slow-%') EXECUTE FUNCTION take_time()`;

const ALWAYS = 1_000_000;

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    let app: ScriptedApp;

    beforeAll(async () => {
      const handler = { mode, storeTimeout: STORE_TIMEOUT, lockTtl: '2s' } as const;
      app = await startScriptedApp({ adapter, handler });
      await app.dataSource.query(FAULTS);
      app.handle(() => app.effects.save({ name: 'order' }));
    });
    afterAll(() => closeClean(app));
    beforeEach(async () => {
      await repair();
      await Promise.all([app.effects.clear(), app.records.clear()]);
      app.handle(() => app.effects.save({ name: 'order' }));
      app.log.clear();
    });

    const fail = async (times: number, event = 'record') => {
      await app.dataSource.query(`INSERT INTO faults VALUES ($1, $2)`, [event, times]);
    };
    const repair = () => app.dataSource.query(`TRUNCATE faults; ALTER SEQUENCE fault_count RESTART`);

    if (mode === 'transaction') {
      it('C25: the record cannot be written: nothing is committed, and a retry executes', async () => {
        const key = newKey();
        await fail(1);
        const failed = await app.post({ key });
        const left = [await app.effects.count(), await app.records.count()];
        const retried = await app.post({ key });
        const replayed = await app.post({ key });

        expect(failed.status).toBe(500);
        expect(failed.json()).toMatchObject({ code: 'IDEMPOTENCY_NOT_COMMITTED' });
        expect(JSON.stringify(app.log.lines)).toMatch('the record cannot be written');
        expect(left).toEqual([0, 0]);
        expect(retried.status).toBe(201);
        expect(replayed.body.equals(retried.body)).toBe(true);
        expect(await app.effects.count()).toBe(1);
      });
    } else {
      it('C25: the record is written at the third try: the response is held so long, and then sent', async () => {
        const key = newKey();
        await fail(2);
        const first = await app.post({ key });
        const second = await app.post({ key });

        expect(first.status).toBe(201);
        expect(app.log.messages('warn').join()).toMatch('could not be recorded; this is tried again');
        expect(second.headers['idempotent-replayed']).toBe('true');
        expect(second.body.equals(first.body)).toBe(true);
        expect(app.executions()).toBe(1);
      });

      it('a record that takes long to be written is not taken for a lost lease by a renewal meanwhile', async () => {
        const key = `slow-${newKey()}`;
        const first = await app.post({ key });
        await sleep(100);

        expect(first.status).toBe(201);
        expect(app.log.messages('warn')).toEqual([]);
        expect((await app.post({ key })).headers['idempotent-replayed']).toBe('true');
      });

      it('C25: the response is held while the record is not written', async () => {
        const key = newKey();
        await fail(ALWAYS);
        let isAnswered = false;
        const answer = app.post({ key }).finally(() => (isAnswered = true));
        await sleep(STORE_TIMEOUT / 2);
        const wasAnswered = isAnswered;
        await repair();

        expect(wasAnswered).toBe(false);
        expect((await answer).status).toBe(201);
        expect((await app.post({ key })).headers['idempotent-replayed']).toBe('true');
      });

      it('C25: after storeTimeout the true response is sent while the lease is ours, and the write goes on', async () => {
        const key = newKey();
        await fail(ALWAYS);
        const first = await app.post({ key });
        const duplicate = await app.post({ key });
        await repair();
        let second = await app.post({ key });
        while (second.status === 409) {
          await sleep(200);
          second = await app.post({ key });
        }

        expect(first.status).toBe(201);
        expect(duplicate.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
        expect(second.headers['idempotent-replayed']).toBe('true');
        expect(second.body.equals(first.body)).toBe(true);
        expect(app.executions()).toBe(1);
      });

      it('C25: when the lease may be gone, the client is told that the outcome is unknown', async () => {
        const key = newKey();
        await fail(ALWAYS);
        await fail(ALWAYS, 'renewal');
        app.handle(async () => {
          await sleep(1_500);
          return app.effects.save({ name: 'order' });
        });
        const answer = await app.post({ key });
        await repair();
        let later = await app.post({ key });
        for (let tries = 0; tries < 30 && later.status !== 201; tries += 1) {
          await sleep(200);
          later = await app.post({ key });
        }

        expect(answer.status).toBe(503);
        expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
        expect(answer.headers['retry-after']).toBe('1');
        expect(later.headers['idempotent-replayed']).toBe('true');
        expect(app.executions()).toBe(1);
        expect(await app.effects.count()).toBe(1);
      });
    }
  });
});
