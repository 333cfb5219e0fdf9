import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { startCountedApp } from '../support/counted-statements.js';
import { newKey } from '../support/idempotent-app.js';
import type { ScriptedApp } from '../support/scripted-app.js';

/** Does something each time before a message like this is sent, until it is told to stop. */
function beforeMessages(pattern: RegExp, work: () => Promise<unknown>): () => void {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = async function (this: pg.Client, ...args: any[]) {
    const text: unknown = args[0]?.text;
    if (typeof text === 'string' && pattern.test(text)) await work();
    return Reflect.apply(query, this, args);
  } as unknown as typeof query;
  return () => void (pg.Client.prototype.query = query);
}

/** What happens to a record while a `transaction` begins. */
onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let other: ScriptedApp;
  let somebody: pg.Client;

  beforeAll(async () => {
    app = await startCountedApp(adapter, 'transaction');
    other = await startCountedApp(adapter, 'transaction', app.database);
    somebody = new pg.Client({ connectionString: app.database.url });
    await somebody.connect();
  });
  afterAll(async () => {
    await somebody.end();
    await closeClean(other);
    await closeClean(app);
  });
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

  it('a record that is gone when it is to be read counts as none', async () => {
    const key = newKey();
    await app.run(() => app.effects.save({ name: 'first' }), { key });
    await app.effects.clear();
    other.handle(() => other.effects.save({ name: 'second' }));
    const [row] = (await somebody.query('SELECT * FROM idempotency_records')).rows;
    const names = Object.keys(row);
    const places = names.map((_, index) => `$${index + 1}`);
    const insert = `INSERT INTO idempotency_records (${names.join()}) VALUES (${places.join()})`;
    let vanished = 0;
    const stopVanishing = beforeMessages(/^SELECT[^;]+; ROLLBACK$/, async () => {
      vanished += 1;
      await somebody.query('DELETE FROM idempotency_records');
    });
    // For the second look it is there again.
    const stopAppearing = beforeMessages(/^BEGIN/, async () => {
      if (vanished === 1) await somebody.query(insert, Object.values(row));
    });
    const stop = (): void => {
      stopAppearing();
      stopVanishing();
    };
    const answer = await other.post({ key }).finally(stop);

    expect(vanished).toBe(2);
    expect(answer.status).toBe(201);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
    expect(await app.effects.find()).toMatchObject([{ name: 'second' }]);
  });

  it('an expired record that a lease has begun anew is not removed, and the transaction loses to it', async () => {
    const key = newKey();
    await app.run(() => app.effects.save({ name: 'first' }), { key });
    await app.effects.clear();
    await somebody.query(`UPDATE idempotency_records SET expires_at = now() - interval '1 second'`);
    other.handle(() => other.effects.save({ name: 'second' }));
    const stop = beforeMessages(/^DELETE FROM/, () =>
      somebody.query(`
        UPDATE idempotency_records SET owner = gen_random_uuid(), completed_at = NULL, status = NULL, headers = NULL,
          body = NULL, expires_at = now() + interval '1 day', lock_expires_at = now() + interval '1 minute'`),
    );
    const answer = await other.post({ key }).finally(stop);

    expect(answer.status).toBe(409);
    expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
    expect(await app.effects.count()).toBe(0);
    expect(await app.records.count()).toBe(1);
  });
});
