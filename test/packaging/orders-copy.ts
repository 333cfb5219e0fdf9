import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { send } from '../support/http.js';
import type { Checks } from './checks.js';
import { run } from './command.js';
import { createDatabase } from './database.js';
import { PROJECT_FOLDER } from './paths.js';
import { checkReplay, postTwice } from './repeated-post.js';
import { withRunningApp } from './running-app.js';
import { installTarballs, type Tarballs } from './tarball.js';
import { withTemporaryFolder } from './temporary-folder.js';

/** What a copy does not take along. */
const LEFT_OUT = ['dist', 'node_modules', '.env'];
const ALICE = { Authorization: 'Bearer demo-alice' };
const ORDER = {
  path: '/v1/orders',
  headers: ALICE,
  body: { items: [{ sku: 'KIBBLE-2KG', quantity: 2 }], currency: 'JPY' },
};

/** Somebody copies the sample app, as its README says, and goes on from there. */
export async function proveOrdersCopy({ idempotency, redis }: Tarballs, checks: Checks): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const databaseUrl = await createDatabase('orders_copy');
    await cp(join(PROJECT_FOLDER, 'apps/orders'), folder, {
      recursive: true,
      filter: (source) => !LEFT_OUT.includes(basename(source)),
    });
    await installTarballs([idempotency, redis], folder, checks);
    await run('npm', ['run', 'build'], { cwd: folder });
    const variables = { DATABASE_URL: databaseUrl };
    await run('npm', ['run', 'migrate'], { cwd: folder, variables });
    await withRunningApp(folder, variables, async (url) => {
      checkReplay(checks, await postTwice(url, ORDER));
      const orders = await send(url, { method: 'GET', path: '/v1/orders', headers: ALICE });
      checks.that('Alice has one order', orders.status === 200 && orders.json().length === 1, orders.text);
    });
  });
}
