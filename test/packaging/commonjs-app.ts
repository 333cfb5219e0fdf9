import { cp } from 'node:fs/promises';
import { join } from 'node:path';

import type { Checks } from './checks.js';
import { run } from './command.js';
import { createDatabase } from './database.js';
import { proveOnRedis } from './on-redis.js';
import { TEMPLATES } from './paths.js';
import { checkReplay, ORDER, postTwice } from './repeated-post.js';
import { withRunningApp } from './running-app.js';
import { installTarballs, type Tarballs } from './tarball.js';
import { withTemporaryFolder } from './temporary-folder.js';

/** The sources of the fresh app, compiled to CommonJS: the libraries are ESM, and Node gives them to `require()`. */
export async function proveCommonJsApp({ idempotency, redis }: Tarballs, checks: Checks): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const databaseUrl = await createDatabase('commonjs_app');
    for (const template of ['before', 'after', 'commonjs']) {
      await cp(join(TEMPLATES, template), folder, { recursive: true });
    }
    await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder });
    await installTarballs([idempotency, redis], folder, checks);
    await run('npm', ['run', 'build'], { cwd: folder });

    const script = "typeof require('@exactly-once/redis').RedisIdempotencyStore";
    const type = (await run('node', ['-p', script], { cwd: folder })).trim();
    checks.that("require('@exactly-once/redis') has the store", type === 'function', type);
    await withRunningApp(folder, { DATABASE_URL: databaseUrl }, async (url) => {
      checkReplay(checks, await postTwice(url, ORDER));
    });
    await proveOnRedis(folder, databaseUrl, checks);
  });
}
