import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';

import type { Checks } from './checks.js';
import { run } from './command.js';
import { folderOf, type Library, PACKAGE_NAMES } from './paths.js';

export interface Tarball {
  library: Library;
  /** The `.tgz`. */
  path: string;
  /** Where it is unpacked. */
  contents: string;
}

/** By the folders of their libraries. */
export type Tarballs = Readonly<Record<Library, Tarball>>;

/** Packs a library, which its scripts build, as `npm publish` would, and unpacks that for a look inside. */
export async function packLibrary(library: Library, folder: string): Promise<Tarball> {
  const output = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: folderOf(library),
  });
  const path = join(folder, fileNameIn(output));
  const contents = join(folder, `unpacked-${library}`);
  await mkdir(contents);
  await run('tar', ['-xzf', path, '-C', contents, '--strip-components=1'], { cwd: folder });
  return { library, path, contents };
}

/** Scripts of the package print before the JSON. */
function fileNameIn(output: string): string {
  const fileName = /"filename":\s*"([^"]+)"/.exec(output)?.[1];
  if (!fileName) throw new Error(`npm pack does not name its file:\n${output}`);
  // npm 9 writes the scope as a folder here, and names the file with a dash.
  return fileName.replace(/^@/, '').replace('/', '-');
}

/** Installs the tarballs, and what else is named, as `npm install` does when a person types it. */
export async function installTarballs(
  tarballs: Tarball[],
  folder: string,
  checks: Checks,
  others: string[] = [],
): Promise<void> {
  const paths = tarballs.map(({ path }) => path);
  await run('npm', ['install', '--no-audit', '--no-fund', ...paths, ...others], { cwd: folder });
  for (const { library } of tarballs) {
    const installed = join(folder, 'node_modules', PACKAGE_NAMES[library]);
    const place = await realpath(installed);
    checks.that(
      `${PACKAGE_NAMES[library]} is installed from the tarball, not linked`,
      place === installed,
      place,
    );
  }
}
