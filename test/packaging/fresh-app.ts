import { cp } from 'node:fs/promises';
import { join } from 'node:path';

import { difference } from './added-lines.js';
import type { Checks } from './checks.js';
import { run } from './command.js';
import { countRows, createDatabase } from './database.js';
import { PACKAGING_FOLDER } from './paths.js';
import { checkReplay, isReplayed, postTwice } from './repeated-post.js';
import { withRunningApp } from './running-app.js';
import { installTarball, type Tarball } from './tarball.js';
import { withTemporaryFolder } from './temporary-folder.js';

const MOST_ADDED_LINES = 15;
const TEMPLATES = join(PACKAGING_FOLDER, 'fresh-app');
const ORDER = {
  path: '/orders',
  headers: { Authorization: 'Bearer token-of-alice' },
  body: { item: 'kibble' },
};

/** An ordinary app, as it is before it knows the library and after. The database goes with it. */
export async function proveFreshApp(tarball: Tarball, checks: Checks): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const databaseUrl = await createDatabase('fresh_app');
    await cp(join(TEMPLATES, 'before'), folder, { recursive: true });
    await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder });
    await run('npm', ['run', 'build'], { cwd: folder });
    await withRunningApp(folder, databaseUrl, async (url) => {
      const [, second] = await postTwice(url, ORDER);
      const rows = await countRows(databaseUrl, 'orders');
      checks.that(
        'without the library two POSTs make two rows',
        rows === 2 && !isReplayed(second),
        `${rows}`,
      );
    });

    await addLibrary(tarball, folder, checks);
    await run('npm', ['run', 'build'], { cwd: folder });
    await withRunningApp(folder, databaseUrl, async (url) => {
      checkReplay(checks, await postTwice(url, ORDER));
      const rows = await countRows(databaseUrl, 'orders');
      checks.that('with the library two POSTs make one more row', rows === 3, `${rows} rows`);
    });
  });
}

async function addLibrary(tarball: Tarball, folder: string, checks: Checks): Promise<void> {
  // The other one is the peer that the app does not have yet.
  await installTarball(tarball, folder, checks, ['@nestjs/schedule']);
  const manifest = await difference(join(TEMPLATES, 'before/package.json'), 'package.json', folder);
  console.log(`npm install has written ${manifest.addedLines} lines to package.json; they are not counted.`);

  const { text, addedLines } = await difference('before/src', 'after/src', TEMPLATES);
  console.log(text);
  const statement = `at most ${MOST_ADDED_LINES} lines are added: ${addedLines}`;
  checks.that(statement, addedLines > 0 && addedLines <= MOST_ADDED_LINES);
  await cp(join(TEMPLATES, 'after'), folder, { recursive: true });
}
