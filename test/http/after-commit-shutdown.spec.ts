import { IdempotencyService, IdempotencyShuttingDownError } from '@exactly-once/nestjs';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';

import { libraryTimers, watchTimers } from '../support/active-handles.js';
import { someoneWaitsForLock } from '../support/blocked-statements.js';
import { blockRecordTable } from '../support/blocked-table.js';
import { withClient } from '../support/database-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { errorOf } from '../support/error-of.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { onEachAdapterInEachMode } from '../support/replay.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapterInEachMode((adapter, mode) => {
  let database: TestDatabase;
  let app: ScriptedApp;

  beforeEach(async () => {
    watchTimers();
    database = await createTestDatabase();
    app = await startScriptedApp({ adapter, database, handler: { mode } });
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const isClosing = () => eventually(async () => expect((await app.post()).status).toBe(503));

  const contents = () =>
    withClient(database.url, async (client) => {
      const effects = await client.query<{ name: string }>('SELECT name FROM effects ORDER BY id');
      const records = await client.query<{ status: number | null }>('SELECT status FROM idempotency_records');
      return {
        effects: effects.rows.map(({ name }) => name),
        statuses: records.rows.map(({ status }) => status),
      };
    });

  it('app.close() waits for work after the commit, and for what that adds, and keeps the database for it', async () => {
    const gate = new Gate();
    const events: string[] = [];
    gate.close();
    const answer = await app.run(async ({ context }) => {
      context.afterCommit(async () => {
        await gate.pass();
        context.afterCommit(async () => {
          await sleep(100);
          await app.effects.save({ name: 'event' });
          events.push('event');
        });
        await app.effects.save({ name: 'mail' });
        events.push('mail');
      });
      await app.effects.save({ name: 'order' });
      return 'created';
    });
    await gate.arrival();
    const closing = app.close().then(() => events.push('closed'));
    await isClosing();
    const before = [...events];
    gate.open();
    await closing;

    expect(answer.text).toBe('created');
    expect(before).toEqual([]);
    expect(events).toEqual(['mail', 'event', 'closed']);
    expect(await contents()).toEqual({ effects: ['order', 'mail', 'event'], statuses: [201] });
    expect(app.log.messages('error')).toEqual([]);
    expect(libraryTimers()).toEqual([]);
  });

  it('claims that are under way when the shutdown begins are given back, and nothing is executed', async () => {
    const service = app.app.get(IdempotencyService);
    const executed: string[] = [];
    app.handle(() => executed.push('handler'));
    const unblock = await blockRecordTable(database.url);
    const answer = app.post();
    const target = { scope: 'nobody', operation: 'job', key: newKey() };
    const refused = errorOf(service.run(target, () => executed.push('work'), { mode }));
    await withClient(database.url, someoneWaitsForLock);
    const closing = app.close();
    await isClosing();
    await unblock();
    await closing;

    expectProblem(await answer, 503, 'IDEMPOTENCY_SHUTTING_DOWN');
    expect((await answer).headers['retry-after']).toBe('1');
    expect(await refused).toBeInstanceOf(IdempotencyShuttingDownError);
    expect(executed).toEqual([]);
    expect(await contents()).toEqual({ effects: [], statuses: [] });
    expect(libraryTimers()).toEqual([]);
  });
});
