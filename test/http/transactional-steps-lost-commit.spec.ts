import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { withClient } from '../support/database-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { newKey } from '../support/idempotent-app.js';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.js';
import { expectProblem } from '../support/problem.js';
import { startScriptedApp, type Script, type ScriptedApp } from '../support/scripted-app.js';

/** Milliseconds. */
const LOCK_TTL = 1_500;

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  let database: TestDatabase;
  let proxy: PostgresProxy;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startPostgresProxy(database.url);
    const handler = { mode: 'lease', onAbandoned: 'retry', lockTtl: LOCK_TTL, storeTimeout: '1s' } as const;
    app = await startScriptedApp({ adapter, database, handler, dataSource: { url: proxy.url } });
    // Lets a COMMIT take as long as a row says.
    await app.dataSource.query(`CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.name = 'slow' THEN PERFORM pg_sleep(0.4); END IF; RETURN NULL; END $$`);
    await app.dataSource.query(`CREATE CONSTRAINT TRIGGER take_time AFTER INSERT ON effects
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION take_time()`);
  });
  afterAll(async () => {
    await closeClean(app);
    await proxy.close();
    await database.drop();
  });
  beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));
  afterEach(() => {
    proxy.recover();
    expect(proxy.isCommitAwaited()).toBe(false);
  });

  const reserve =
    (name = 'seat'): Script =>
    ({ context }) =>
      context.transactionalStep('reserve', async () => (await app.effects.save({ name })).name);

  /** Past the proxy. */
  const names = () =>
    withClient(database.url, async (client) =>
      (await client.query('SELECT name FROM effects')).rows.map(({ name }) => name),
    );

  it.each(['unanswered', 'swallowed'] as const)(
    'the answer to the COMMIT of a step is lost (%s) and it was committed: the handler goes on',
    async (fate) => {
      proxy.onCommit(fate);
      const answer = await app.run(reserve());

      expect(answer.status).toBe(201);
      expect(answer.text).toBe('seat');
      expect(await names()).toEqual(['seat']);
    },
  );

  it('the connection is lost while the server still commits a step: that is waited for', async () => {
    proxy.onCommit('cut');
    const answer = await app.run(reserve('slow'));

    expect(answer.status).toBe(201);
    expect(answer.text).toBe('slow');
    expect(await names()).toEqual(['slow']);
  });

  it('the COMMIT of a step is lost on its way: the step fails, nothing of it remains, and it is not noted', async () => {
    const key = newKey();
    proxy.onCommit('lost');
    let error: unknown;
    await app.run(
      async (input) => {
        await Promise.resolve(reserve()(input)).catch((cause: unknown) => (error = cause));
        await app.effects.save({ name: 'after' });
      },
      { key },
    );

    expect(error).toHaveProperty('message');
    expect(await names()).toEqual(['after']);
    expect(await app.records.findOneByOrFail({ key })).toMatchObject({ steps: null });
  });

  it.each([
    // The server is still at work when the network goes down.
    ['had been committed', 'unanswered', 100, 'slow'],
    ['had not been committed', 'lost', 0, 'again'],
  ] as const)(
    'the database goes away at the COMMIT of a step that %s: the client is told so, and a retry has one effect',
    async (_, fate, delay, expected) => {
      const key = newKey();
      proxy.onCommit(fate, () => setTimeout(() => proxy.goDown(), delay));
      const first = await app.run(reserve('slow'), { key });
      proxy.recover();
      app.handle(reserve('again'));
      const retried = await eventually(async () => {
        const answer = await app.post({ key });
        expect(answer.status).toBe(201);
        return answer;
      });

      expectProblem(first, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
      expect(retried.text).toBe(expected);
      expect(await names()).toEqual([expected]);
    },
  );
});
