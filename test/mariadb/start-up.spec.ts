import { IdempotencyConfigurationError, MariaDbIdempotencyStore } from '@exactly-once/nestjs';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';

import { errorOf } from '../support/error-of.js';
import { MariaDbServer } from './mariadb-server.js';
import { describeWithMariaDb } from './with-mariadb.js';

const WITHOUT_TABLE = { migrations: [] };

describeWithMariaDb('a store on MariaDB does not start', () => {
  let server: MariaDbServer;
  let dataSource: DataSource;

  beforeAll(async () => {
    server = await MariaDbServer.start();
  }, 60_000);
  afterEach(async () => {
    await dataSource.query('DROP TABLE IF EXISTS idempotency_records, migrations');
    await dataSource.destroy();
  });
  afterAll(() => server.stop());

  async function refusal(): Promise<string> {
    const error = await errorOf(new MariaDbIdempotencyStore(dataSource).open());
    expect(error).toBeInstanceOf(IdempotencyConfigurationError);
    return (error as Error).message;
  }

  it('without its table, and says which migrations make it', async () => {
    dataSource = await server.connect(WITHOUT_TABLE);
    expect(await refusal()).toMatch(/idempotency_records.*doesn't exist.*mariaDbIdempotencyMigrations/s);
  });

  it('where a column is missing, and says which', async () => {
    dataSource = await server.connect();
    await dataSource.query('ALTER TABLE idempotency_records DROP COLUMN steps');
    expect(await refusal()).toMatch(/steps/);
  });

  it.each(['MyISAM', 'Aria'])('where the engine of the table is %s', async (engine) => {
    dataSource = await server.connect();
    await dataSource.query(`ALTER TABLE idempotency_records ENGINE=${engine}`);
    expect(await refusal()).toMatch(new RegExp(`engine is ${engine}, and has to be InnoDB`));
  });

  it('where connections do not commit by themselves', async () => {
    dataSource = await server.connect();
    await server.ask('SET GLOBAL autocommit = 0');
    dataSource = await server.connect();
    const message = await refusal();
    await server.ask('SET GLOBAL autocommit = 1');
    expect(message).toMatch(/autocommit/);
  });
});

describeWithMariaDb('a DataSource of MariaDB', () => {
  it('whose server says that it is MySQL is refused', async () => {
    const server = await MariaDbServer.start('--version=8.0.40');
    const dataSource = await server.connect();
    const error = await errorOf(new MariaDbIdempotencyStore(dataSource).open());
    await dataSource.destroy();
    await server.stop();
    expect(error).toBeInstanceOf(IdempotencyConfigurationError);
    expect(String(error)).toMatch(/8\.0\.40.*no MariaDB/s);
  });

  it('that is not initialized is refused, and the message says so', async () => {
    const store = new MariaDbIdempotencyStore(new DataSource({ type: 'mariadb', database: 'test' }));
    await expect(store.open()).rejects.toThrow(/cannot be used.*not established.*initialized/s);
  });
});

it.each([
  ['postgres', new DataSource({ type: 'postgres' }), /type 'postgres'.*'mariadb' or 'mysql'/s],
  ['none', undefined, /no DataSource/],
])('a store on MariaDB is not made of a DataSource of another type: %s', (_, dataSource, message) => {
  expect(() => new MariaDbIdempotencyStore(dataSource as DataSource)).toThrow(message);
});
