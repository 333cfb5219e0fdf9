import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { RedisServer, redisVersion } from '../redis/redis-server.js';
import type { Checks } from './checks.js';
import { run } from './command.js';
import { countRows } from './database.js';
import { checkReplay, ORDER, postTwice } from './repeated-post.js';
import { withRunningApp } from './running-app.js';

/** What is added to the module of the fresh app, and in front of what. */
const ADDITIONS = [
  { text: "import { RedisIdempotencyStore } from '@exactly-once/redis';\n", before: 'import { Module }' },
  { text: 'store: new RedisIdempotencyStore(process.env.REDIS_URL!), ', before: 'scope: (request)' },
];

/** The fresh app, which has the library already, with its records in Redis from now on. */
export async function proveOnRedis(folder: string, databaseUrl: string, checks: Checks): Promise<void> {
  if (redisVersion() === undefined) {
    console.log('Left out: the app with its records in Redis. There is no redis-server on this machine.');
    return;
  }
  await addStore(join(folder, 'src/app.module.ts'));
  await run('npm', ['run', 'build'], { cwd: folder });
  const redis = await RedisServer.start();
  try {
    const before = await countRows(databaseUrl, 'orders');
    await withRunningApp(folder, { DATABASE_URL: databaseUrl, REDIS_URL: redis.url }, async (url) => {
      checkReplay(checks, await postTwice(url, ORDER));
      const rows = (await countRows(databaseUrl, 'orders')) - before;
      checks.that('with the record in Redis two POSTs make one more row', rows === 1, `${rows} more`);
      const records = await redis.ask((client) => client.dbsize());
      checks.that('Redis has one record', records === 1, `${records}`);
    });
  } finally {
    await redis.stop();
  }
}

async function addStore(path: string): Promise<void> {
  let source = await readFile(path, 'utf8');
  for (const { text, before } of ADDITIONS) {
    if (!source.includes(before)) throw new Error(`${path} has no ${before}`);
    source = source.replace(before, `${text}${before}`);
  }
  await writeFile(path, source);
}
