import { IdempotencyService } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { countStatements, startCountedApp } from '../support/counted-statements.js';
import { withClient } from '../support/database-client.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { newKey } from '../support/idempotent-app.js';
import { expectReplay } from '../support/replay.js';
import { rowVersions } from '../support/row-versions.js';
import type { ScriptedApp } from '../support/scripted-app.js';

const MANY = 64;

onEachAdapter((adapter) => {
  let app: ScriptedApp;
  const gate = new Gate();

  beforeAll(async () => {
    app = await startCountedApp(adapter, 'lease');
  });
  afterAll(() => closeClean(app));
  beforeEach(() => app.records.clear());

  /** Messages that are worked off at the same moment. */
  const runTogether = (keys: string[]): Promise<string[]> =>
    Promise.all(
      keys.map((key) =>
        app.app
          .get(IdempotencyService)
          .run({ scope: 'invoices', operation: 'invoice-paid', key }, () => `paid ${key}`, { mode: 'lease' }),
      ),
    );

  it('what comes at one moment is claimed by one statement, and completed by one', async () => {
    const keys = Array.from({ length: MANY }, newKey);
    const counted = countStatements();
    const results = await runTogether(keys).finally(counted.stop);

    expect(results).toEqual(keys.map((key) => `paid ${key}`));
    expect(counted.texts).toHaveLength(2);
    expect(counted.texts.map((text) => /INSERT|UPDATE/.exec(text)?.[0])).toEqual(['INSERT', 'UPDATE']);
    expect(await app.records.count()).toBe(MANY);
  });

  it('what comes over HTTP is shared as far as it comes together', async () => {
    app.handle(({ body }) => body);
    const counted = countStatements();
    const posts = Array.from({ length: MANY }, () => app.post());
    const answers = await Promise.all(posts).finally(counted.stop);

    expect(answers.map(({ status }) => status)).toEqual(Array(MANY).fill(201));
    expect(counted.texts.length).toBeLessThan(2 * MANY);
  });

  it('a replay is one statement, which writes nothing, and is shared with those at the same moment', async () => {
    const key = newKey();
    const first = await app.run(() => 'done', { key });
    const keys = Array.from({ length: MANY }, newKey);
    const results = await runTogether(keys);
    const before = await rowVersions(app.dataSource);
    const counted = countStatements();
    const second = await app.post({ key });
    const forOne = counted.texts.splice(0);
    const replayed = await runTogether(keys).finally(counted.stop);

    expectReplay(second, first);
    expect(replayed).toEqual(results);
    expect(forOne).toHaveLength(1);
    expect(counted.texts).toHaveLength(1);
    expect(await rowVersions(app.dataSource)).toEqual(before);
  });

  it('many claims of one key in one batch, some with another payload, execute once', async () => {
    gate.close();
    app.handle(async () => {
      await gate.pass();
      return 'done';
    });
    const key = newKey();
    let answered = 0;
    const answers = Array.from({ length: MANY }, (_, index) =>
      app.post({ key, body: { amount: index % 2 } }).finally(() => (answered += 1)),
    );
    await eventually(() => expect(answered).toBe(MANY - 1));
    gate.open();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);

    expect(app.executions()).toBe(1);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(MANY / 2 - 1);
    expect(statuses.filter((status) => status === 422)).toHaveLength(MANY / 2);
  });

  it('bodies of any bytes and keys of any characters come back from a batch as they were', async () => {
    const keys = [
      '\\',
      '{a}',
      '{}',
      "o'brien",
      'NULL',
      '$1',
      'Key',
      'key',
      '"a \\" \\\\ b"',
      'k'.repeat(255),
    ];
    const bodies = [0, 1, 16_383, 16_384, 16_385, 1_000_000].map((size) => randomBytes(size));
    const given = new Map<string, Buffer>(keys.map((key, index) => [key, bodies[index % bodies.length]!]));
    app.handle(({ body, response }) => {
      const raw = response.raw ?? response;
      response.hijack?.();
      raw.setHeader('Content-Type', 'application/octet-stream');
      raw.end(given.get(body.key));
    });
    const post = () => Promise.all(keys.map((key) => app.post({ key, body: { key } })));
    const firsts = await post();
    const seconds = await post();

    firsts.forEach((first, index) => expect(first.body.equals(given.get(keys[index]!)!)).toBe(true));
    seconds.forEach((second, index) => expectReplay(second, firsts[index]!));
    expect(app.executions()).toBe(keys.length);
  });

  it('a record that another session has locked holds up no neighbour', async () => {
    const keys = Array.from({ length: 20 }, newKey);
    gate.close();
    app.handle(async () => {
      await gate.pass();
      return 'done';
    });
    let answered = 0;
    const answers = keys.map((key) => app.post({ key }).finally(() => (answered += 1)));
    await eventually(() => expect(app.executions()).toBe(keys.length));
    await withClient(app.database.url, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT FROM idempotency_records WHERE key = ANY ($1) FOR UPDATE', [
        keys.slice(0, 2),
      ]);
      gate.open();
      await eventually(() => expect(answered).toBe(keys.length - 2));
      await client.query('COMMIT');
    });
    const statuses = (await Promise.all(answers)).map(({ status }) => status);

    expect(statuses).toEqual(keys.map(() => 201));
  });
});
