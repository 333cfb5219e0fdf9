import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { onEachAdapter } from '../support/adapters.js';
import { emptyTemplate } from '../support/database-templates.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { send } from '../support/http.js';
import { ensureBuilt } from './ensure-built.js';
import { LauncherProcess } from './launcher-process.js';

// Starts and stops several processes, on a machine that may have other things to do.
jest.setTimeout(90_000);

describe('the launcher with the orders app', () => {
  beforeAll(ensureBuilt, 180_000);

  onEachAdapter((adapter) => {
    let database: TestDatabase;
    let launcher: LauncherProcess;

    beforeAll(async () => {
      database = await createTestDatabase({ template: emptyTemplate });
      const env = { DATABASE_URL: database.url, HTTP_ADAPTER: adapter, PORT: '0' };
      launcher = new LauncherProcess(['dist/main.js'], process.cwd(), env);
    });

    afterAll(async () => {
      expect(await launcher.stop()).toBe(0);
      await database.drop();
    });

    it('prints lines to paste that place one order, however often they are pasted', async () => {
      const url = await launcher.address();
      const authorization = await launcher.shown(/(?<=Authorization: )Bearer [\w.-]+/);
      const key = await launcher.shown(/(?<=Idempotency-Key: )[^']+/);
      const body = JSON.parse(await launcher.shown(/(?<=-d ')[^']+/));
      const order = {
        path: '/v1/orders',
        headers: { authorization, 'Idempotency-Key': key },
        body,
      };

      const first = await send(url, order);
      const second = await send(url, order);
      expect(first.status).toBe(201);
      expect(second.status).toBe(201);
      expect(second.headers['idempotent-replayed']).toBe('true');
      expect(second.body).toEqual(first.body);

      const list = await send(url, { method: 'GET', path: '/v1/orders', headers: { authorization } });
      expect(list.json()).toEqual([first.json()]);
    });

    it('prints the address of pages about the API', async () => {
      const docs = await launcher.shown(/http:\/\/\S+\/docs/);
      expect((await fetch(docs)).status).toBe(200);
    });
  });
});
