import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';

import { reportStatistics } from '../benchmark/processes/server/report-statistics.js';
import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { countStatements, startCountedApp } from '../support/counted-statements.js';
import { newKey } from '../support/idempotent-app.js';
import { sendFromConnections } from '../support/load.js';
import { expectReplay } from '../support/replay.js';
import { rowVersions } from '../support/row-versions.js';
import type { ScriptedApp } from '../support/scripted-app.js';

const CONNECTIONS = 64;

interface Updates {
  all: number;
  heap_only: number;
}

async function readUpdates(dataSource: DataSource): Promise<Updates> {
  await reportStatistics(dataSource);
  const [row] = await dataSource.query(`
    SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS heap_only FROM pg_stat_user_tables
    WHERE relname = 'idempotency_records'`);
  return row;
}

function commits(texts: string[]): number {
  return texts.filter((text) => /\bCOMMIT\b/.test(text)).length;
}

onEachAdapter((adapter) => {
  describe('in transaction mode', () => {
    let app: ScriptedApp;
    let other: ScriptedApp;

    beforeAll(async () => {
      app = await startCountedApp(adapter, 'transaction');
      other = await startCountedApp(adapter, 'transaction', app.database);
    });
    afterAll(async () => {
      await closeClean(other);
      await closeClean(app);
    });
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    it('a key adds no round trip and no commit to a handler that saves', async () => {
      const save = () => app.effects.save({ name: 'order' });
      const bare = countStatements();
      await save().finally(bare.stop);
      app.handle(save);
      const protectedOnes = countStatements();
      const answer = await app.post().finally(protectedOnes.stop);

      expect(answer.status).toBe(201);
      expect(protectedOnes.texts).toHaveLength(bare.texts.length);
      expect(commits(protectedOnes.texts)).toBe(commits(bare.texts));
    });

    it('a replay is one statement, which writes nothing, and is shared with those at the same moment', async () => {
      const key = newKey();
      const first = await app.run(({ body }) => app.effects.save({ name: (body as { item: string }).item }), {
        key,
        body: { item: 'kibble' },
      });
      const before = await rowVersions(app.dataSource);
      const counted = countStatements();
      const second = await app.post({ key, body: { item: 'kibble' } });
      const forOne = counted.texts.splice(0);
      const load = { url: app.url, connections: CONNECTIONS, requestsOfEach: 30, key };
      const statuses = await sendFromConnections(load).finally(counted.stop);

      expectReplay(second, first);
      expect(statuses).toEqual(Array(CONNECTIONS * 30).fill(201));
      expect(forOne).toHaveLength(1);
      expect(forOne[0]).toMatch(/^SELECT/);
      expect(counted.texts.length / statuses.length).toBeLessThan(0.2);
      expect(await rowVersions(app.dataSource)).toEqual(before);
    });

    it('another process learns from its first replay of a key that there is a record', async () => {
      const key = newKey();
      const first = await app.run(() => app.effects.save({ name: 'order' }), { key });
      const counted = countStatements();
      const second = await other.post({ key });
      const forSecond = counted.texts.splice(0);
      const third = await other.post({ key }).finally(counted.stop);

      expectReplay(second, first);
      expectReplay(third, first);
      expect(forSecond).toEqual([expect.stringMatching(/^BEGIN/), expect.stringMatching(/ROLLBACK$/)]);
      expect(counted.texts).toHaveLength(1);
      expect(other.executions()).toBe(0);
    });

    it('a record that is gone is no longer known, and the handler runs again', async () => {
      const key = newKey();
      await app.run(() => app.effects.save({ name: 'order' }), { key });
      await app.records.clear();
      const again = await app.post({ key });

      expect(again.status).toBe(201);
      expect(again.headers['idempotent-replayed']).toBeUndefined();
      expect(app.executions()).toBe(2);
    });
  });

  describe('in lease mode', () => {
    let app: ScriptedApp;

    beforeAll(async () => {
      app = await startCountedApp(adapter, 'lease');
    });
    afterAll(() => closeClean(app));
    beforeEach(() => app.dataSource.query('TRUNCATE idempotency_records'));

    function sendFromAll(): Promise<number[]> {
      app.handle(({ body }) => body);
      return sendFromConnections({ url: app.url, connections: CONNECTIONS, requestsOfEach: 30 });
    }

    /** The share of completions that touched no index. */
    async function heapOnly(completions: number, work: () => Promise<unknown>): Promise<number> {
      const before = await readUpdates(app.dataSource);
      await work();
      const after = await readUpdates(app.dataSource);
      expect(after.all - before.all).toBe(completions);
      return (after.heap_only - before.heap_only) / completions;
    }

    it('64 connections make less than 0.2 statements for each request, and no more commits than statements', async () => {
      const counted = countStatements();
      const statuses = await sendFromAll().finally(counted.stop);

      expect(statuses).toEqual(Array(CONNECTIONS * 30).fill(201));
      expect(counted.texts.length / statuses.length).toBeLessThan(0.2);
      expect(counted.texts.filter((text) => /\b(BEGIN|COMMIT)\b/.test(text))).toEqual([]);
    });

    it('completions touch no index, neither one after the other nor those that share a statement', async () => {
      const inTurn = await heapOnly(40, async () => {
        app.handle(({ body }) => body);
        for (let sent = 0; sent < 40; sent += 1) await app.post();
      });
      const shared = await heapOnly(CONNECTIONS * 30, sendFromAll);

      expect(inTurn).toBeGreaterThanOrEqual(0.95);
      expect(shared).toBeGreaterThanOrEqual(0.95);
    });
  });
});
