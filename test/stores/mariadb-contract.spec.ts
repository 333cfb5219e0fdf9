import { MariaDbIdempotencyStore } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';

import { NO_MARIADB } from '../contract/contract-stores.js';
import { describeContract } from '../contract/describe-contract.js';
import { MariaDbServer, mariaDbVersion } from '../mariadb/mariadb-server.js';
import { moveClock } from '../mariadb/move-clock.js';
import { describeWithMariaDb } from '../mariadb/with-mariadb.js';

const version = mariaDbVersion();

describeWithMariaDb('the contract on MariaDB', () => {
  let server: MariaDbServer;
  let dataSource: DataSource;

  beforeAll(async () => {
    server = await MariaDbServer.start();
    dataSource = await server.connect();
  }, 60_000);
  afterAll(async () => {
    await dataSource?.destroy();
    await server?.stop();
  });

  describeContract({
    store: 'MariaDB',
    server: version === undefined ? NO_MARIADB : `MariaDB ${version}`,
    open: () => new MariaDbIdempotencyStore(dataSource),
    passTime: (milliseconds) => moveClock(dataSource, milliseconds),
  });

  it('runs on the version that is reported', async () => {
    const [{ version: told }] = await dataSource.query('SELECT VERSION() AS version');
    expect(told).toMatch(`${version}-MariaDB`);
  });
});
