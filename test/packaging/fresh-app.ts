import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { difference } from './added-lines.js';
import type { Checks } from './checks.js';
import { run } from './command.js';
import { countRows, createDatabase } from './database.js';
import { proveOnRedis } from './on-redis.js';
import { PROJECT_FOLDER, TEMPLATES } from './paths.js';
import { checkReplay, isReplayed, ORDER, postTwice } from './repeated-post.js';
import { withRunningApp } from './running-app.js';
import { installTarballs, type Tarballs } from './tarball.js';
import { withTemporaryFolder } from './temporary-folder.js';

const MOST_ADDED_LINES = 15;
const TEST_SAMPLE = 'docs/samples/add-to-your-app/orders.test.ts';
const LESS_TEST_LINES = 30;
/** npm refuses 6 beside TypeORM, of which 5 is an optional peer. */
const IOREDIS = 'ioredis@5';

/** An ordinary app, as it is before it knows the library and after. The database goes with it. */
export async function proveFreshApp(tarballs: Tarballs, checks: Checks): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const databaseUrl = await createDatabase('fresh_app');
    const variables = { DATABASE_URL: databaseUrl };
    await cp(join(TEMPLATES, 'before'), folder, { recursive: true });
    await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder });
    await run('npm', ['run', 'build'], { cwd: folder });
    await withRunningApp(folder, variables, async (url) => {
      const [, second] = await postTwice(url, ORDER);
      const rows = await countRows(databaseUrl, 'orders');
      checks.that(
        'without the library two POSTs make two rows',
        rows === 2 && !isReplayed(second),
        `${rows}`,
      );
    });

    await addLibrary(tarballs, folder, checks);
    await run('npm', ['run', 'build'], { cwd: folder });
    await withRunningApp(folder, variables, async (url) => {
      checkReplay(checks, await postTwice(url, ORDER));
      const rows = await countRows(databaseUrl, 'orders');
      checks.that('with the library two POSTs make one more row', rows === 3, `${rows} rows`);
    });
    await proveCases(folder, variables, checks);
    await installTarballs([tarballs.redis], folder, checks, [IOREDIS]);
    await proveOnRedis(folder, databaseUrl, checks);
  });
}

/** What docs/testing.md says, word for word. */
async function proveCases(folder: string, variables: Record<string, string>, checks: Checks): Promise<void> {
  const sample = await readFile(join(PROJECT_FOLDER, TEST_SAMPLE), 'utf8');
  const lines = sample.trim().split('\n').length;
  checks.that(`the test has less than ${LESS_TEST_LINES} lines: ${lines}`, lines < LESS_TEST_LINES);
  await writeFile(join(folder, 'src/orders.test.ts'), sample);
  await run('npx', ['tsc'], { cwd: folder });
  const output = await run('node', ['--test', '--test-reporter=tap', 'dist/orders.test.js'], {
    cwd: folder,
    variables,
  });
  const [, passed] = /^# pass (\d+)$/m.exec(output) ?? [];
  checks.that('its cases pass', passed === '6' && /^# fail 0$/m.test(output), output);
}

async function addLibrary({ idempotency, client }: Tarballs, folder: string, checks: Checks): Promise<void> {
  // The other one is the peer that the app does not have yet.
  await installTarballs([idempotency, client], folder, checks, ['@nestjs/schedule']);
  const manifest = await difference(join(TEMPLATES, 'before/package.json'), 'package.json', folder);
  console.log(`npm install has written ${manifest.addedLines} lines to package.json; they are not counted.`);

  const { text, addedLines } = await difference('before/src', 'after/src', TEMPLATES);
  console.log(text);
  const statement = `at most ${MOST_ADDED_LINES} lines are added: ${addedLines}`;
  checks.that(statement, addedLines > 0 && addedLines <= MOST_ADDED_LINES);
  await cp(join(TEMPLATES, 'after'), folder, { recursive: true });
}
