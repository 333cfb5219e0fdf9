import { IdempotencyRecord, idempotencyMigrations, idempotencySchemaSql } from '@exactly-once/nestjs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, DefaultNamingStrategy, type DataSourceOptions } from 'typeorm';

import { emptyTemplate } from '../support/database-templates.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { withClient } from '../support/database-client.js';

/** Renames everything, also what has a name of its own. */
class ShoutingStrategy extends DefaultNamingStrategy {
  override tableName(target: string, given: string | undefined): string {
    return `T_${super.tableName(target, given).toUpperCase()}`;
  }

  override columnName(property: string, given: string | undefined, prefixes: string[]): string {
    return `c ${super.columnName(property, given as string, prefixes).toUpperCase()}`;
  }
}

const SETTINGS: Record<string, Partial<DataSourceOptions>> = {
  'default names': {},
  'a schema of its own': { schema: 'Shop 1' } as Partial<DataSourceOptions>,
  'an entityPrefix': { entityPrefix: 'shop_' },
  'a naming strategy': { namingStrategy: new ShoutingStrategy() },
  'all of them': {
    ...({ schema: 'Shop 1' } as Partial<DataSourceOptions>),
    entityPrefix: 'shop_',
    namingStrategy: new ShoutingStrategy(),
  },
};

/** What makes the tables equal, in the words of Postgres. */
const DESCRIPTION = `
  SELECT attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS required,
         attnum AS position, attstorage AS storage
    FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT conname, pg_get_constraintdef(oid), NULL, NULL, NULL FROM pg_constraint WHERE conrelid = $1::regclass
  UNION ALL SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), NULL, NULL, NULL
    FROM pg_index WHERE indrelid = $1::regclass
  UNION ALL SELECT 'options', reloptions::text, NULL, NULL, NULL FROM pg_class WHERE oid = $1::regclass
  ORDER BY 1, 2`;

const differences = async (dataSource: DataSource) =>
  (await dataSource.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query);

describe('the table of records', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase({ template: emptyTemplate });
  });
  afterAll(() => database.drop());

  async function connect(settings: Partial<DataSourceOptions>): Promise<DataSource> {
    const dataSource = new DataSource({
      type: 'postgres',
      url: database.url,
      entities: [IdempotencyRecord],
      migrations: idempotencyMigrations,
      ...settings,
    } as DataSourceOptions);
    return dataSource.initialize();
  }

  describe.each(Object.entries(SETTINGS))('with %s', (_, settings) => {
    let dataSource: DataSource;

    beforeAll(async () => {
      await withClient(database.url, (client) =>
        client.query('CREATE SCHEMA IF NOT EXISTS "Shop 1"; DROP TABLE IF EXISTS migrations'),
      );
      dataSource = await connect(settings);
      await dataSource.runMigrations();
    });
    afterAll(async () => {
      await dataSource.undoLastMigration().catch(() => undefined);
      await dataSource.destroy();
    });

    it('is made by the migrations as the entity says: the schema builder finds nothing to change', async () => {
      expect(await differences(dataSource)).toEqual([]);
      expect(await dataSource.getRepository(IdempotencyRecord).count()).toBe(0);
    });

    it('keeps a record that is written and read through the entity', async () => {
      const records = dataSource.getRepository(IdempotencyRecord);
      const now = new Date();
      const record = {
        id: Buffer.alloc(32, 7),
        scope: null,
        operation: 'POST /',
        key: 'k',
        fingerprint: Buffer.alloc(32),
        owner: '8e03978e-40d5-43e8-bc93-6894a57f9324',
        attempt: 1,
        createdAt: now,
        lockExpiresAt: null,
        completedAt: now,
        expiresAt: now,
        purgeAt: now,
        status: 201,
        headers: '{"b":1,"a":"\\u0000"}',
        steps: null,
        body: Buffer.from([0, 255]),
      };
      await records.insert(record);

      expect(await records.find()).toEqual([record]);
    });

    it('is gone after the migration is undone', async () => {
      const { tablePath } = dataSource.getMetadata(IdempotencyRecord);
      await dataSource.undoLastMigration();
      const isThere = await dataSource.createQueryRunner().hasTable(tablePath);
      await dataSource.runMigrations();

      expect(isThere).toBe(false);
      expect(await differences(dataSource)).toEqual([]);
    });
  });

  it('is the same when idempotencySchemaSql() makes it', async () => {
    const byMigrations = await createTestDatabase();
    const bySql = await createTestDatabase({ template: emptyTemplate });
    await withClient(bySql.url, (client) => client.query(idempotencySchemaSql()));
    const [expected, made] = await Promise.all(
      [byMigrations, bySql].map(({ url }) =>
        withClient(url, async (client) => (await client.query(DESCRIPTION, ['idempotency_records'])).rows),
      ),
    );
    await Promise.all([byMigrations.drop(), bySql.drop()]);

    expect(expected!.length).toBeGreaterThan(15);
    expect(made).toEqual(expected);
  });

  it('can be there twice in one schema, for two applications with prefixes of their own', async () => {
    const other = await createTestDatabase({ template: emptyTemplate });
    for (const entityPrefix of ['shop_', 'bank_']) {
      const dataSource = await new DataSource({
        type: 'postgres',
        url: other.url,
        entityPrefix,
        migrationsTableName: `${entityPrefix}migrations`,
        entities: [IdempotencyRecord],
        migrations: idempotencyMigrations,
      }).initialize();
      await dataSource.runMigrations().finally(() => dataSource.destroy());
    }
    const sql = ['first_records', 'second_records'].map((table) => idempotencySchemaSql({ table }));
    await withClient(other.url, (client) => client.query(sql.join('')));
    await other.drop();
  });

  it('gets the name and the schema that idempotencySchemaSql() is given, and an entity of that name fits', async () => {
    const other = await createTestDatabase({ template: emptyTemplate });
    const sql = idempotencySchemaSql({ table: 'billing.Once' });
    await withClient(other.url, (client) => client.query(`CREATE SCHEMA billing; ${sql}`));
    const found = await withClient(other.url, (client) => client.query('SELECT FROM billing."Once"'));
    await other.drop();

    expect(found.rowCount).toBe(0);
  });

  it('says the same in the migrations of a DataSource that does not know the entity', async () => {
    const other = await createTestDatabase({ template: emptyTemplate });
    const options = { type: 'postgres', url: other.url, migrations: idempotencyMigrations } as const;
    const migrator = await new DataSource(options).initialize();
    await migrator.runMigrations();
    await migrator.destroy();
    const dataSource = await new DataSource({ ...options, entities: [IdempotencyRecord] }).initialize();
    const found = await differences(dataSource);
    await dataSource.destroy();
    await other.drop();

    expect(found).toEqual([]);
  });
});
