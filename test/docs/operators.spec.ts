import { IdempotencyReleaseRefusedError, IdempotencyService } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { releaseRefund } from '../../docs/samples/operators.js';
import { Gate } from '../support/gate.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';
import { lapseLease } from '../support/lapsed-lease.js';
import { fencedBlocks, read, sectionOf } from './markdown.js';

function camelCase(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

const refund = { scope: 'alice', operation: 'POST /orders/:id/refund', key: 'first-refund' };

/** The statements of the section: which are abandoned, what one of them looks like, and its end. */
const [list, find, release] = fencedBlocks(sectionOf(read('docs/postgres.md'), '## Abandoned attempts'))
  .filter(({ language }) => language === 'sql')
  .map(({ content }) => content);

describe('abandoned attempts', () => {
  let app: IdempotentApp;
  let idempotency: IdempotencyService;
  let end: (() => Promise<unknown>) | undefined;

  beforeAll(async () => {
    app = await startIdempotentApp({ adapter: 'express' });
    idempotency = app.app.get(IdempotencyService);
  });
  afterAll(() => app.close());
  afterEach(async () => {
    await end?.();
    await app.records.clear();
  });

  /** Leaves a refund where its first step is done. */
  async function begin(): Promise<void> {
    const gate = new Gate();
    gate.close();
    const running = idempotency.run(
      refund,
      async (context) => {
        await context.step('refund', () => 're_1');
        await gate.pass();
      },
      { mode: 'lease' },
    );
    await gate.arrival();
    end = () => {
      gate.open();
      return running.catch(() => undefined);
    };
  }

  const abandon = async (): Promise<void> => {
    await begin();
    await lapseLease(app, refund.key);
  };
  /** With the names that `find()` gives. */
  const foundBySql = async (): Promise<object[]> => {
    const rows = await app.dataSource.query<Record<string, unknown>[]>(find!);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [camelCase(name), value])),
    );
  };
  const deletedBySql = async (): Promise<number> => (await app.dataSource.query(release!))[1];

  it('docs/samples/operators.ts shows one and frees its key, which is logged', async () => {
    await abandon();
    const record = await releaseRefund(idempotency);

    expect(record).toMatchObject({ state: 'abandoned', attempt: 1, steps: '{"refund":{"result":"re_1"}}' });
    expect(await idempotency.find(refund)).toBeUndefined();
    expect(app.log.messages('warn').at(-1)).toMatch(
      /^carol@example\.com released .*POST \/orders\/:1\/refund/,
    );
  });

  it('docs/samples/operators.ts leaves one that is in progress', async () => {
    await begin();
    const record = await releaseRefund(idempotency);

    expect(record).toMatchObject({ state: 'in-flight' });
    expect(await idempotency.find(refund)).toEqual(record);
    await expect(idempotency.release(refund, 'carol')).rejects.toThrow(IdempotencyReleaseRefusedError);
  });

  it('are listed by the SQL of docs/postgres.md, and no others', async () => {
    await begin();
    const before = await app.dataSource.query(list!);
    await lapseLease(app, refund.key);
    const after = await app.dataSource.query(list!);

    expect(before).toEqual([]);
    expect(after).toMatchObject([{ operation: 'POST /orders/:1/refund', key: refund.key }]);
  });

  it('are shown by the SQL of docs/postgres.md as by find(), in every state', async () => {
    const states: unknown[] = [];
    const compare = async (): Promise<void> => {
      const record = await idempotency.find(refund);
      const { scope: _scope, operation: _operation, key: _key, ...shown } = record!;
      expect(await foundBySql()).toEqual([shown]);
      states.push(shown.state);
    };
    await begin();
    await compare();
    await lapseLease(app, refund.key);
    await compare();
    await end!();
    await compare();
    await app.dataSource.query('UPDATE idempotency_records SET expires_at = now()');
    await compare();

    expect(states).toEqual(['in-flight', 'abandoned', 'completed', 'expired']);
  });

  it('are released by the SQL of docs/postgres.md as by release(), and no others', async () => {
    await begin();
    const inFlight = await deletedBySql();
    await lapseLease(app, refund.key);
    const abandoned = await deletedBySql();
    await end!();
    await idempotency.run(refund, () => 'done', { mode: 'lease' });
    const completed = await deletedBySql();

    expect([inFlight, abandoned, completed]).toEqual([0, 1, 0]);
  });
});
