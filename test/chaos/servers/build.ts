import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { PROJECT, SERVER_SCRIPT } from '../project.js';

/** What is built from where. */
const PARTS = [
  { sources: 'libs/idempotency/src', result: join(PROJECT, 'libs/idempotency/dist/index.js') },
  { sources: 'libs/redis/src', result: join(PROJECT, 'libs/redis/dist/index.js') },
  { sources: 'apps/orders/src', result: SERVER_SCRIPT },
];

/** The servers run what is built, so it is built again when a source is newer. */
export async function buildIfStale(): Promise<void> {
  const stale = await Promise.all(
    PARTS.map(
      async ({ sources, result }) => (await newest(join(PROJECT, sources))) > (await builtAt(result)),
    ),
  );
  if (!stale.includes(true)) return;
  console.error('Building …');
  await promisify(execFile)('npm', ['run', 'build'], { cwd: PROJECT }).catch((error: { stdout: string }) => {
    throw new Error(`The project cannot be built:\n${error.stdout}`);
  });
}

/** Milliseconds since 1970 of the last change to a file in this folder. */
async function newest(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'));
  const stats = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return Math.max(...stats.map(({ mtimeMs }) => mtimeMs));
}

async function builtAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
