import { Idempotent, IdempotencyContext, type IdempotentContext } from '@exactly-once/nestjs';
import { expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';

import { activeResources, libraryTimers, resourcesBeyond, watchTimers } from '../support/active-handles.js';
import { onEachAdapter } from '../support/adapters.js';
import { withClient } from '../support/database-client.js';
import { createTestDatabase } from '../support/database.js';
import { Effect } from '../support/effect.entity.js';
import { eventually } from '../support/eventually.js';
import { newKey, startIdempotentApp } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';

/** Milliseconds within which an app is closed: the ten seconds that it waits for handlers, and some more. */
const LIMIT = 20_000;

const never = (): Promise<never> => new Promise(() => undefined);

onEachAdapter((adapter) => {
  const contexts: IdempotentContext[] = [];

  @Controller()
  class StuckController {
    constructor(@InjectRepository(Effect) private readonly effects: Repository<Effect>) {}

    @Post('transaction')
    @Idempotent({ mode: 'transaction' })
    inTransaction(@IdempotencyContext() context: IdempotentContext) {
      return this.stick(context);
    }

    @Post('lease')
    @Idempotent({ mode: 'lease' })
    underLease(@IdempotencyContext() context: IdempotentContext) {
      return this.stick(context);
    }

    @Post('after-commit')
    @Idempotent()
    async afterCommit(@IdempotencyContext() context: IdempotentContext) {
      await this.effects.save({ name: 'after-commit' });
      context.afterCommit(never);
      contexts.push(context);
      return 'done';
    }

    private async stick(context: IdempotentContext) {
      await this.effects.save({ name: context.mode });
      contexts.push(context);
      return never();
    }
  }

  it('nothing is left of handlers that never settle once the app is closed, and their clients are told', async () => {
    watchTimers();
    const database = await createTestDatabase();
    const before = activeResources();
    const app = await startIdempotentApp({ adapter, database, controllers: [StuckController] });
    const key = newKey();
    const answers = [
      app.post({ path: '/transaction' }),
      app.post({ path: '/lease', key }),
      app.post({ path: '/after-commit' }),
    ];
    await eventually(() => expect(contexts).toHaveLength(3));
    const duplicate = await app.post({ path: '/lease', key });
    const beginning = performance.now();
    await app.close();
    const duration = performance.now() - beginning;
    const [inTransaction, underLease, afterCommit] = await Promise.all(answers);
    await eventually(() => {
      expect(libraryTimers()).toEqual([]);
      expect(resourcesBeyond(before, activeResources())).toEqual([]);
    });
    const left = await withClient(database.url, async (client) => {
      const connections = await client.query(
        'SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      const effects = await client.query('SELECT name FROM effects ORDER BY name');
      const record = await client.query(
        'SELECT completed_at, status FROM idempotency_records WHERE key = $1',
        [key],
      );
      return { connections: connections.rows, effects: effects.rows, record: record.rows };
    });
    await database.drop();

    expectProblem(duplicate, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(duration).toBeLessThan(LIMIT);
    expectProblem(inTransaction!, 503, 'IDEMPOTENCY_NOT_COMMITTED');
    expectProblem(underLease!, 503, 'IDEMPOTENCY_OUTCOME_UNKNOWN');
    expect(afterCommit!.text).toBe('done');
    expect(contexts.map(({ mode, signal }) => ({ mode, aborted: signal.aborted }))).toContainEqual({
      mode: 'lease',
      aborted: true,
    });
    // The lease runs out by itself, as that of a process that died.
    expect(left).toEqual({
      connections: [],
      effects: [{ name: 'after-commit' }, { name: 'lease' }],
      record: [{ completed_at: null, status: null }],
    });
    expect(app.log.messages('warn').join()).toMatch(
      '3 idempotent requests were still being executed at shutdown',
    );
  }, 60_000);
});
