import { IdempotencyRecord, Idempotent } from '@exactly-once/nestjs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  type INestApplication,
  Post,
  VersioningType,
} from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DataSource } from 'typeorm';

import { postOnce } from '../../docs/samples/client.js';
import { PaymentProvider, PaymentsController, TooBusyError } from '../../docs/samples/payments.controller.js';
import { Tag, TagsController } from '../../docs/samples/tags.controller.js';
import { PhotosController } from '../../docs/samples/upload.controller.js';
import { VersionedOrdersController } from '../../docs/samples/versions.controller.js';
import { onEachAdapter } from '../support/adapters.js';
import { startApp, type TestApp } from '../support/app.js';
import { emptyTemplate } from '../support/database-templates.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { send, type HttpResponse } from '../support/http.js';
import { startIdempotentApp, type IdempotentApp } from '../support/idempotent-app.js';

/** Stands for the guard of an application; a real one believes a token. */
const believesItsClient: CanActivate = {
  canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
    request.user = { id: request.headers['x-user'] ?? 'alice' };
    return true;
  },
};

const trustClient = (app: INestApplication): void => void app.useGlobalGuards(believesItsClient);

const isReplayed = (answer: HttpResponse): boolean => answer.headers['idempotent-replayed'] === 'true';

/** The samples read their database's address when they are loaded. */
async function databaseInEnvironment(name = 'DATABASE_URL'): Promise<TestDatabase> {
  const database = await createTestDatabase({ template: emptyTemplate });
  process.env[name] = database.url;
  return database;
}

describe('the example of the README', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await databaseInEnvironment();
  });
  afterAll(() => database.drop());

  onEachAdapter((adapter) => {
    it('has one effect for each user and key, and answers a retry with the first answer', async () => {
      const { AppModule } = await import('../../docs/samples/quick-start.js');
      const app = await startApp({ adapter, imports: [AppModule], configure: trustClient });
      const dataSource = app.app.get(DataSource);
      await dataSource.synchronize();
      const before = await dataSource.query('SELECT FROM orders');
      const order = (item: string, user = 'alice'): Promise<HttpResponse> =>
        send(app.url, {
          path: '/orders',
          headers: { 'Idempotency-Key': `key-${adapter}`, 'X-User': user },
          body: { item },
        });

      const first = await order('kibble');
      const again = await order('kibble');
      const other = await order('litter');
      const ofBob = await order('kibble', 'bob');
      const after = await dataSource.query('SELECT FROM orders');
      await app.close();

      expect([first.status, again.status, other.status, ofBob.status]).toEqual([201, 201, 422, 201]);
      expect(again.body.equals(first.body)).toBe(true);
      expect([first, again, ofBob].map(isReplayed)).toEqual([false, true, false]);
      expect(after.length - before.length).toBe(2);
    });
  });
});

describe('docs/samples/add-to-your-app', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await databaseInEnvironment();
    const { default: dataSource } = await import('../../docs/samples/add-to-your-app/data-source.js');
    await dataSource.initialize();
    await dataSource.runMigrations();
    await dataSource.destroy();
  });
  afterAll(() => database.drop());

  onEachAdapter((adapter) => {
    let app: TestApp;

    beforeAll(async () => {
      const { AppModule } = await import('../../docs/samples/add-to-your-app/app.module.js');
      const { configure } = await import('../../docs/samples/add-to-your-app/configure.js');
      app = await startApp({ adapter, imports: [AppModule], configure });
    });
    afterAll(() => app.close());

    const order = (
      key: string,
      item: string,
      authorization = 'Bearer token-of-alice',
    ): Promise<HttpResponse> =>
      send(app.url, {
        path: '/orders',
        headers: {
          'Idempotency-Key': `${adapter}-${key}`,
          Authorization: authorization,
          Origin: 'https://shop.example',
        },
        body: { item },
      });

    it('answers as the guide says, also to a browser on another origin', async () => {
      const answers = [
        await order('first-key', 'kibble'),
        await order('first-key', 'kibble'),
        await order('first-key', 'litter'),
        await order('second-key', 'kibble'),
      ];

      expect(answers.map(({ status }) => status)).toEqual([201, 201, 422, 201]);
      expect(answers.map(isReplayed)).toEqual([false, true, false, false]);
      expect(answers[1]!.headers['access-control-expose-headers']).toContain('Idempotent-Replayed');
      expect(answers[3]!.json().id).not.toBe(answers[0]!.json().id);
    });

    it('asks the guard before it replays', async () => {
      expect((await order('guarded', 'kibble')).status).toBe(201);
      expect((await order('guarded', 'kibble', 'Bearer none')).status).toBe(401);
    });

    it('needs no further migration', async () => {
      const { upQueries } = await app.app.get(DataSource).driver.createSchemaBuilder().log();
      const ofRecords = upQueries.filter(({ query }) => query.includes('idempotency_records'));
      expect(ofRecords).toEqual([]);
    });
  });

  it('purges by a script', async () => {
    const { default: dataSource } = await import('../../docs/samples/add-to-your-app/data-source.js');
    await dataSource.initialize();
    await dataSource.query('UPDATE idempotency_records SET expires_at = now(), purge_at = now()');
    const log = jest.spyOn(console, 'log').mockReturnValue();
    await import('../../docs/samples/add-to-your-app/purge.js');
    const lines = log.mock.calls.flat();
    log.mockRestore();
    const left = await dataSource.getRepository(IdempotencyRecord).count();
    await dataSource.destroy();

    expect(lines).toEqual([expect.stringMatching(/^[1-9]\d* expired records removed\.$/)]);
    expect(left).toBe(0);
  });
});

describe('docs/samples/two-data-sources.ts', () => {
  it('keeps its records in the DataSource that is named', async () => {
    @Controller('invoices')
    class InvoicesController {
      @Post()
      @Idempotent()
      create() {
        return { invoice: 1 };
      }
    }
    const reports = await databaseInEnvironment('REPORTS_DATABASE_URL');
    const billing = await databaseInEnvironment('BILLING_DATABASE_URL');
    const { AppModule } = await import('../../docs/samples/two-data-sources.js');
    const app = await startApp({
      adapter: 'express',
      imports: [AppModule],
      controllers: [InvoicesController],
      configure: trustClient,
    });
    const answer = await send(app.url, { path: '/invoices', headers: { 'Idempotency-Key': 'k' } });
    const named = app.app.get<DataSource>(getDataSourceToken('billing'));
    const records = await named.getRepository(IdempotencyRecord).count();
    const isInDefault = app.app.get(DataSource).hasMetadata(IdempotencyRecord);
    await app.close();
    await Promise.all([reports.drop(), billing.drop()]);

    expect(answer.status).toBe(201);
    expect(records).toBe(1);
    expect(isInDefault).toBe(false);
  });
});

onEachAdapter((adapter) => {
  describe('docs/samples/payments.controller.ts', () => {
    class FakeProvider extends PaymentProvider {
      readonly asked: [orderId: string, key: string][] = [];

      async charge(orderId: string, key: string) {
        this.asked.push([orderId, key]);
        if (this.asked.length === 1) {
          throw new TooBusyError();
        }
        return { id: 'ch_1' };
      }
    }

    it('frees the key when the provider was too busy, and passes on a key that is of one user', async () => {
      const provider = new FakeProvider();
      const app = await startIdempotentApp({
        adapter,
        controllers: [PaymentsController],
        providers: [{ provide: PaymentProvider, useValue: provider }],
      });
      const pay = (user: string): Promise<HttpResponse> =>
        app.post({ path: '/orders/7/pay', key: 'k', headers: { 'X-User': user } });
      const answers = [await pay('alice'), await pay('alice'), await pay('alice'), await pay('bob')];
      await app.close();

      expect(answers.map(({ status }) => status)).toEqual([503, 201, 201, 201]);
      expect(answers.map(isReplayed)).toEqual([false, false, true, false]);
      const [first, second, ofBob] = provider.asked.map(([, key]) => key);
      expect(provider.asked).toHaveLength(3);
      expect(second).toBe(first);
      expect(ofBob).not.toBe(first);
    });
  });

  describe('docs/samples/versions.controller.ts', () => {
    it('tells the keys of two versions apart that a header chooses', async () => {
      const app = await startIdempotentApp({
        adapter,
        controllers: [VersionedOrdersController],
        configure: (nest) =>
          void nest.enableVersioning({ type: VersioningType.HEADER, header: 'Accept-Version' }),
      });
      const order = (version: string): Promise<HttpResponse> =>
        app.post({
          path: '/orders',
          key: 'k',
          headers: { 'Accept-Version': version },
          body: { item: 'kibble' },
        });
      const answers = [await order('1'), await order('2'), await order('1')];
      await app.close();

      expect(answers.map((answer) => answer.json())).toEqual([
        { item: 'kibble' },
        { items: ['kibble'] },
        { item: 'kibble' },
      ]);
      expect(answers.map(isReplayed)).toEqual([false, false, true]);
    });
  });

  describe('docs/samples/tags.controller.ts', () => {
    it('goes on after a unique violation that is caught around a savepoint', async () => {
      const app = await startIdempotentApp({
        adapter,
        controllers: [TagsController],
        imports: [TypeOrmModule.forFeature([Tag])],
        entities: [Tag],
      });
      const first = await app.post({ path: '/tags', body: { name: 'cats' } });
      const second = await app.post({ path: '/tags', body: { name: 'cats' } });
      await app.close();

      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.json()).toEqual(first.json());
    });
  });
});

describe('docs/samples/upload.controller.ts', () => {
  it('compares the content of the file', async () => {
    const app: IdempotentApp = await startIdempotentApp({
      adapter: 'express',
      controllers: [PhotosController],
    });
    const upload = async (content: string): Promise<Response> => {
      const body = new FormData();
      body.set('photo', new Blob([content]), 'cat.jpg');
      return fetch(`${app.url}/photos`, { method: 'POST', headers: { 'Idempotency-Key': 'k' }, body });
    };
    const answers = [await upload('cat'), await upload('cat'), await upload('dog')];
    await app.close();

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 422]);
    expect(answers[1]!.headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('docs/samples/client.ts', () => {
  it('sends one key until there is a result', async () => {
    const keys: unknown[] = [];
    const server = createServer((request, response) => {
      keys.push(request.headers['idempotency-key']);
      const [status, body] = [
        [503, {}] as const,
        [409, { code: 'IDEMPOTENCY_KEY_IN_USE' }] as const,
        [409, { message: 'The order is paid already.' }] as const,
      ][keys.length - 1]!;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const response = await postOnce(`http://127.0.0.1:${port}`, { item: 'kibble' }, 'k');
    server.closeAllConnections();
    server.close();

    expect(keys).toEqual(['k', 'k', 'k']);
    expect(await response.json()).toEqual({ message: 'The order is paid already.' });
  });
});
