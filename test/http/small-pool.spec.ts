import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConflictException } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

const eight = <T>(make: (index: number) => T) => Array.from({ length: 8 }, (_, index) => make(index));

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startScriptedApp({
        adapter,
        handler: { mode, inFlight: { wait: '10s' } },
        dataSource: { poolSize: 2 },
      });
    });
    afterAll(() => closeClean(app));
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    /** Uses the database in as many ways at a time as handlers do. */
    const work = async () => {
      await Promise.all([app.effects.count(), app.dataSource.query('SELECT 1'), app.effects.find()]);
      await sleep(20);
      await app.dataSource.transaction((manager) => manager.query('SELECT pg_sleep(0.02)'));
      return app.effects.save({ name: 'order' });
    };

    it('C35: eight keys in parallel on a pool of two all finish', async () => {
      app.handle(work);
      const keys = eight(newKey);
      const answers = await Promise.all(keys.map((key) => app.post({ key })));
      const replays = await Promise.all(keys.map((key) => app.post({ key })));

      expect(answers.map(({ status }) => status)).toEqual(eight(() => 201));
      expect(replays.map(({ headers }) => headers['idempotent-replayed'])).toEqual(eight(() => 'true'));
      expect(await app.effects.count()).toBe(8);
    });

    it('C35: eight keys with a waiting duplicate each all finish: one that waits holds no connection', async () => {
      app.handle(work);
      const keys = eight(newKey);
      const answers = await Promise.all([...keys, ...keys].map((key) => app.post({ key })));

      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(app.executions()).toBe(8);
      expect(await app.effects.count()).toBe(8);
    });

    it('C35: eight handlers that refuse in parallel all finish, and their answers are recorded', async () => {
      app.handle(async () => {
        await work();
        throw new ConflictException('sold out');
      });
      const keys = eight(newKey);
      const answers = await Promise.all(keys.map((key) => app.post({ key })));
      const replays = await Promise.all(keys.map((key) => app.post({ key })));

      expect(answers.map(({ status }) => status)).toEqual(eight(() => 409));
      expect(replays.map(({ headers }) => headers['idempotent-replayed'])).toEqual(eight(() => 'true'));
      expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 8);
    });

    it('C35: eight handlers that fail in parallel all finish', async () => {
      app.handle(async () => {
        await work();
        throw new Error('out of luck');
      });
      const answers = await Promise.all(eight(() => app.post()));

      expect(answers.map(({ status }) => status)).toEqual(eight(() => 500));
      expect(await app.effects.count()).toBe(mode === 'transaction' ? 0 : 8);
    });
  });
});
