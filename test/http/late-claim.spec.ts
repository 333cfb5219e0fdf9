import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

onEachAdapter((adapter) => {
  let app: ScriptedApp;

  beforeAll(async () => {
    app = await startScriptedApp({
      adapter,
      handler: { mode: 'lease', storeTimeout: '500ms', lockTtl: '2s' },
    });
    // A server that takes its time for the first claim, and carries it out although nobody waits any more.
    await app.dataSource.query(`CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NOT EXISTS (SELECT FROM effects WHERE name = 'in time') THEN PERFORM pg_sleep(2); END IF;
      RETURN NEW; END $$`);
    await app.dataSource.query(`CREATE TRIGGER take_time BEFORE INSERT ON idempotency_records
      FOR EACH ROW EXECUTE FUNCTION take_time()`);
  });
  afterAll(() => closeClean(app));

  it('a claim that is carried out after it was given up does not keep its key', async () => {
    const key = newKey();
    const given = await app.run(() => 'done', { key });
    expectProblem(given, 503, 'IDEMPOTENCY_STORE_UNAVAILABLE');
    await app.effects.insert({ name: 'in time' });
    const retried = await eventually(async () => {
      const answer = await app.post({ key });
      expect(answer.status).toBe(201);
      return answer;
    });

    expect(retried.text).toBe('done');
    expect(app.executions()).toBe(1);
  });
});
