import { IdempotencyStore } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';

import { newClaim } from '../../libs/idempotency/src/testing/store-contract/world.js';
import { fencedBlocks, read, sectionOf } from '../docs/markdown.js';
import { Executions, PaymentsController } from '../stores/payments-app.js';
import { startApp, type TestApp } from '../support/app.js';
import { send } from '../support/http.js';
import { expectReplay } from '../support/replay.js';
import { MariaDbServer } from './mariadb-server.js';
import { describeWithMariaDb } from './with-mariadb.js';

/** Stands for the guard of an application. */
function authenticate(app: INestApplication): void {
  app.use((request: { user?: object }, _response: unknown, next: () => void) => {
    request.user = { id: 'alice' };
    next();
  });
}

describeWithMariaDb('what docs/stores.md says of MariaDB:', () => {
  let server: MariaDbServer;
  let app: TestApp;

  beforeAll(async () => {
    server = await MariaDbServer.start();
    process.env.MARIADB_URL = `mariadb://root@127.0.0.1:${server.port}/test`;
    const { AppModule } = await import('../../docs/samples/mariadb/app.module.js');
    app = await startApp({
      adapter: 'express',
      imports: [AppModule],
      controllers: [PaymentsController],
      providers: [Executions],
      configure: authenticate,
    });
  }, 60_000);
  afterAll(async () => {
    await app?.close();
    await server?.stop();
  });

  const pay = () => send(app.url, { body: { id: 'a' }, headers: { 'Idempotency-Key': 'documented-key' } });

  it('its module replays, and its statement shows abandoned attempts', async () => {
    const first = await pay();
    expectReplay(await pay(), first);
    const abandoned = newClaim({ lockTtl: 1 });
    const alive = newClaim();
    const store = app.app.get(IdempotencyStore);
    for (const claim of [abandoned, alive]) await store.claim(claim);
    await sleep(50);
    const blocks = fencedBlocks(sectionOf(read('docs/stores.md'), '## MariaDB'));
    const statement = blocks.find(({ language }) => language === 'sql')!.content;
    const rows = await app.app.get(DataSource).query(statement);
    const { key, operation, scope } = abandoned;
    expect(rows).toMatchObject([{ key, operation, scope, attempt: 1, created_at: expect.any(Date) }]);
  });

  it('the columns are those of Postgres, and the version', async () => {
    const rows: { Field: string }[] = await app.app.get(DataSource).query('DESCRIBE idempotency_records');
    const documented = /^\| column \| content \|\n((?:\|.*\n)+)/m.exec(read('docs/postgres.md'))![1]!;
    const columns = [...documented.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
    );
    expect(rows.map(({ Field }) => Field).toSorted()).toEqual([...columns, 'version'].toSorted());
  });
});
