import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';

import type { Checks } from './checks.js';
import { run } from './command.js';
import { LIBRARY_FOLDER, LIBRARY_NAME, PROJECT_FOLDER } from './paths.js';

export interface Tarball {
  /** The `.tgz`. */
  path: string;
  /** Where it is unpacked. */
  contents: string;
}

/** Builds the library, packs it as `npm publish` would, and unpacks that for a look inside. */
export async function packLibrary(folder: string): Promise<Tarball> {
  await run('npm', ['run', 'build:libs'], { cwd: PROJECT_FOLDER });
  const output = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: LIBRARY_FOLDER });
  const path = join(folder, fileNameIn(output));
  const contents = join(folder, 'unpacked');
  await mkdir(contents);
  await run('tar', ['-xzf', path, '-C', contents, '--strip-components=1'], { cwd: folder });
  return { path, contents };
}

/** Scripts of the package print before the JSON. */
function fileNameIn(output: string): string {
  const fileName = /"filename":\s*"([^"]+)"/.exec(output)?.[1];
  if (!fileName) throw new Error(`npm pack does not name its file:\n${output}`);
  // npm 9 writes the scope as a folder here, and names the file with a dash.
  return fileName.replace(/^@/, '').replace('/', '-');
}

/** Installs the tarball, and what else is named, as `npm install` does when a person types it. */
export async function installTarball(
  { path }: Tarball,
  folder: string,
  checks: Checks,
  others: string[] = [],
): Promise<void> {
  await run('npm', ['install', '--no-audit', '--no-fund', path, ...others], { cwd: folder });
  const installed = join(folder, 'node_modules', LIBRARY_NAME);
  const place = await realpath(installed);
  checks.that('the library is installed from the tarball, not linked', place === installed, place);
}
