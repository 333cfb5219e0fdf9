import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { run } from '../packaging/command.js';
import { BENCHMARK, LIBRARIES, PROJECT } from './project.js';

/** Brings everything that will run into being. */
export async function prepare(): Promise<void> {
  if (
    await isStale(join(BENCHMARK, 'node_modules/.package-lock.json'), join(BENCHMARK, 'package-lock.json'))
  ) {
    // The peers of the other library are a Nest of long ago; with this flag it uses the project's.
    await run('npm', ['ci', '--legacy-peer-deps'], { cwd: BENCHMARK });
  }
  // In build mode the compiler itself sees whether the result is older than a source.
  const libraries = LIBRARIES.map((library) => join(library, 'tsconfig.lib.json'));
  await run('npx', ['tsc', '--build', ...libraries], { cwd: PROJECT });
  await run('npx', ['tsc', '--project', BENCHMARK], { cwd: PROJECT });
}

async function isStale(result: string, source: string): Promise<boolean> {
  return (await changedAt(result)) < (await changedAt(source));
}

/** Milliseconds since 1970; 0 for a file that does not exist. */
async function changedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
