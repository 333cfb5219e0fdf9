import { IdempotencyService, idempotencyMigrations } from '@exactly-once/nestjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpException } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultNamingStrategy } from 'typeorm';

import { onEachAdapter } from '../support/adapters.js';
import { closeClean } from '../support/clean-close.js';
import { emptyTemplate } from '../support/database-templates.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { withClient } from '../support/database-client.js';
import { newKey } from '../support/idempotent-app.js';
import { startScriptedApp, type ScriptedApp } from '../support/scripted-app.js';

/** Renames everything, also what has a name of its own. */
class ShoutingStrategy extends DefaultNamingStrategy {
  override tableName(target: string, given: string | undefined): string {
    return `T ${super.tableName(target, given).toUpperCase()}`;
  }

  override columnName(property: string, given: string | undefined, prefixes: string[]): string {
    return `c ${super.columnName(property, given as string, prefixes).toUpperCase()}`;
  }
}

onEachAdapter((adapter) => {
  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    let database: TestDatabase;
    let app: ScriptedApp;

    beforeAll(async () => {
      database = await createTestDatabase({ template: emptyTemplate });
      await withClient(database.url, (client) => client.query('CREATE SCHEMA "Shop 1"'));
      app = await startScriptedApp({
        adapter,
        database,
        handler: { mode, ttl: '1s' },
        dataSource: {
          schema: 'Shop 1',
          entityPrefix: 'my_',
          namingStrategy: new ShoutingStrategy(),
          migrations: idempotencyMigrations,
          migrationsRun: true,
        } as object,
      });
    });
    afterAll(async () => {
      await closeClean(app);
      await database.drop();
    });
    beforeEach(() => Promise.all([app.effects.clear(), app.records.clear()]));

    const save = () => app.effects.save({ name: 'order' });

    it('keys work on a table with another schema, prefix and naming strategy', async () => {
      const key = newKey();
      const [first, ...duplicates] = await Promise.all(
        Array.from({ length: 3 }, (_, index) => (index ? app.post({ key }) : app.run(save, { key }))),
      );
      const replayed = await app.post({ key });
      const other = await app.post({ key, body: { amount: 200 } });

      expect(app.records.metadata.tablePath).toBe('Shop 1.my_T IDEMPOTENCY_RECORDS');
      expect([first, ...duplicates].map((answer) => answer!.status)).toContain(201);
      expect(replayed.headers['idempotent-replayed']).toBe('true');
      expect(other.status).toBe(422);
      expect(await app.effects.count()).toBe(1);
      expect(await app.records.countBy({ key })).toBe(1);
    });

    it('so do errors, expiry and purging', async () => {
      const key = newKey();
      await app.run(() => Promise.reject(new HttpException('sold out', 409)), { key });
      const replayed = await app.run(save, { key });
      await sleep(1_100);
      const again = await app.post({ key });
      await sleep(1_100);
      const purged = await app.app.get(IdempotencyService).purge();

      expect(replayed.status).toBe(409);
      expect(again.status).toBe(201);
      expect(purged).toBe(1);
      expect(await app.records.count()).toBe(0);
    });
  });
});
