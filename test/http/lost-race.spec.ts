import type { IsolationLevel } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const LEVELS: (IsolationLevel | undefined)[] = [undefined, 'REPEATABLE READ', 'SERIALIZABLE'];

const answers = async (requests: Promise<{ status: number }>[]) =>
  (await Promise.all(requests)).map(({ status }) => status);

onEachAdapter((adapter) => {
  describe.each(LEVELS)('with isolation %s', (isolation) => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({
        adapter,
        handler: { isolation },
        dataSource: { poolSize: 20 },
      });
    });
    afterAll(() => closeClean(app));
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    it('twenty requests that race for one key have one effect, and none gets a wrong answer', async () => {
      for (const delay of [0, 0, 5, 20]) {
        const key = newKey();
        await app.effects.clear();
        app.handle(async () => {
          const effect = await app.effects.save({ name: 'order' });
          await sleep(delay);
          return effect;
        });
        const statuses = await answers(Array.from({ length: 20 }, () => app.post({ key })));
        const replay = await app.post({ key });

        expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
        expect(statuses).toContain(201);
        expect(await app.effects.count()).toBe(1);
        expect(replay.headers['idempotent-replayed']).toBe('true');
      }
    });

    it('requests that race with two payloads get 201, 409 or 422, and one payload wins', async () => {
      const key = newKey();
      app.handle(({ body }) => app.effects.save({ name: body.name }));
      const statuses = await answers(
        Array.from({ length: 20 }, (_, index) => app.post({ key, body: { name: `payload ${index % 2}` } })),
      );
      const winner = (await app.effects.find())[0]!.name;
      const loser = winner === 'payload 0' ? 'payload 1' : 'payload 0';

      expect(statuses.filter((status) => ![201, 409, 422].includes(status))).toEqual([]);
      expect(await app.effects.count()).toBe(1);
      expect((await app.post({ key, body: { name: winner } })).status).toBe(201);
      expect((await app.post({ key, body: { name: loser } })).status).toBe(422);
    });

    /** Commits a copy of another key's record under this key, as an attempt that no lock has held back would. */
    const recordMeanwhile = (key: string, from: string): Promise<unknown> =>
      withClient(app.database.url, (client) =>
        client.query(
          `INSERT INTO idempotency_records
             SELECT (jsonb_populate_record(
                       record, jsonb_build_object('id', ids.id::text, 'key', ids.key, 'owner', gen_random_uuid()))).*
               FROM idempotency_records AS record, ids WHERE ids.key = $1 AND record.key = $2`,
          [key, from],
        ),
      );

    /** The id of a key's record is a hash that only the library knows: it is learnt from a first execution. */
    async function learnId(key: string, body?: object): Promise<void> {
      await app.run(() => 'learning', { key, ...(body && { body }) });
      await app.dataSource.query(
        'CREATE TABLE IF NOT EXISTS ids AS SELECT id, key FROM idempotency_records LIMIT 0',
      );
      await app.dataSource.query('INSERT INTO ids SELECT id, key FROM idempotency_records WHERE key = $1', [
        key,
      ]);
      await app.dataSource.query('DELETE FROM idempotency_records WHERE key = $1', [key]);
    }

    it('a record that another session commits meanwhile counts: its answer is sent, our effects are undone', async () => {
      const [key, other] = [newKey(), newKey()];
      await learnId(key);
      const original = await app.run(() => ({ result: 'of the other one' }), { key: other });
      const answer = await app.run(
        async () => {
          await app.effects.save({ name: 'ours' });
          await recordMeanwhile(key, other);
          return { result: 'ours' };
        },
        { key },
      );

      expect(answer.status).toBe(201);
      expect(answer.headers['idempotent-replayed']).toBe('true');
      expect(answer.body.equals(original.body)).toBe(true);
      expect(await app.effects.count()).toBe(0);
      expect(await app.records.countBy({ key })).toBe(1);
    });

    it('a record of another payload that another session commits meanwhile makes ours a 422 without effects', async () => {
      const [key, other] = [newKey(), newKey()];
      await learnId(key);
      await app.run(() => ({ result: 'of the other one' }), { key: other, body: { amount: 200 } });
      const answer = await app.run(
        async () => {
          await app.effects.save({ name: 'ours' });
          await recordMeanwhile(key, other);
          return { result: 'ours' };
        },
        { key },
      );

      expect(answer.status).toBe(422);
      expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
      expect(await app.effects.count()).toBe(0);
    });
  });
});
