import { IdempotencyModule, MariaDbIdempotencyStore, nothingDone } from '@exactly-once/nestjs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Module, ServiceUnavailableException } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';

import { startStoreApp, type StoreApp } from '../stores/store-app.js';
import { storeCases } from '../stores/store-cases.js';
import { onEachAdapter } from '../support/adapters.js';
import { newKey, userScope } from '../support/idempotent-app.js';
import { expectProblem } from '../support/problem.js';
import { expectReplay } from '../support/replay.js';
import { MariaDbServer } from './mariadb-server.js';
import { describeWithMariaDb } from './with-mariadb.js';

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const MEGABYTE = Buffer.alloc(1024 * 1024 - 1, EVERY_BYTE);

@Module({})
class OnMariaDbModule {}

/** As an application has it: `autoLoadEntities`, and the DataSource injected into the options. */
function onMariaDb(server: MariaDbServer) {
  return {
    module: OnMariaDbModule,
    imports: [
      TypeOrmModule.forRoot({
        ...server.options({ autoLoadEntities: true, poolSize: 20 }),
        retryAttempts: 0,
      } as TypeOrmModuleOptions),
      IdempotencyModule.forRootAsync({
        dataSource: false,
        inject: [DataSource],
        useFactory: (dataSource: DataSource) => ({
          scope: userScope,
          store: new MariaDbIdempotencyStore(dataSource),
        }),
      }),
    ],
  };
}

describeWithMariaDb('records in MariaDB', () => {
  onEachAdapter((adapter) => {
    let server: MariaDbServer;
    let app: StoreApp;

    const { cases, handler } = storeCases(() => app, {
      endRetention: (key) =>
        app.app
          .get(DataSource)
          .query('UPDATE idempotency_records SET expires_at = 0, lock_expires_at = 0 WHERE `key` = ?', [key]),
      concurrency: 64,
    });

    beforeAll(async () => {
      server = await MariaDbServer.start();
      app = await startStoreApp({ adapter, module: onMariaDb(server) });
      app.handle(handler);
    }, 60_000);
    afterAll(async () => {
      await app?.close();
      await server?.stop();
    });

    for (const { name, run } of cases) it(name, run);

    it.each([
      ['every byte', EVERY_BYTE],
      ['no byte', Buffer.alloc(0)],
      ['a megabyte', MEGABYTE],
    ])('a body of %s is replayed as it was', async (_, body) => {
      const key = newKey();
      app.handle(({ response }) => {
        response.header('Content-Type', 'application/octet-stream');
        response.header('X-Names', 'räksmörgås');
        response.send(body);
      });
      const first = await app.post({ key });
      expect(first.body.equals(body)).toBe(true);
      expectReplay(await app.post({ key }), first);
      expect(app.executions()).toBe(1);
    });

    it('of 64 requests at the same moment one is executed', async () => {
      const key = newKey();
      app.handle(handler);
      const answers = await Promise.all(Array.from({ length: 64 }, () => app.post({ key })));

      expect(app.executions()).toBe(1);
      const [first, ...others] = answers.filter(
        ({ headers, status }) => status === 201 && !headers['idempotent-replayed'],
      );
      expect(others).toEqual([]);
      for (const refused of answers.filter(({ status }) => status !== 201)) {
        expectProblem(refused, 409, 'IDEMPOTENCY_KEY_IN_USE');
      }
      expectReplay(await app.post({ key }), first!);
    });

    it('a step is recorded, and is not done again by the retry', async () => {
      const key = newKey();
      let charged = 0;
      app.handle(async ({ context }) => {
        const charge = await context.step('charge', () => ({ number: (charged += 1) }));
        if (app.executions() === 1) throw nothingDone(new ServiceUnavailableException());
        return charge;
      });
      await app.post({ key });
      await app.post({ key });
      expect(charged).toBe(1);
    });
  });
});
