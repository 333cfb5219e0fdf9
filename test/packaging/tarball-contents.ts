import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';

import type { Checks } from './checks.js';
import { undeclaredPackages } from './imported-packages.js';
import { folderOf } from './paths.js';
import type { Tarball } from './tarball.js';

const TEST_FILE = /\.(spec|test)\.|(^|\/)(test|tests|__tests__)\/|\.tsbuildinfo$|(^|\/)\.env/;

/** What somebody who installs the library finds in it. */
export async function checkContents({ library, contents }: Tarball, checks: Checks): Promise<void> {
  const files = await filesIn(contents);
  const manifest = JSON.parse(await readFile(join(contents, 'package.json'), 'utf8'));
  console.log(`${manifest.name} ${manifest.version}, ${files.length} files`);

  const checkNone = (statement: string, offenders: string[]) =>
    checks.that(statement, offenders.length === 0, offenders.join(', '));

  const expected = ['README.md', 'LICENSE', ...entryPoints(manifest)];
  for (const file of expected) checks.that(`contains ${file}`, files.includes(file), 'missing');
  checkNone(
    'contains no tests and no files of the build',
    files.filter((file) => TEST_FILE.test(file)),
  );
  const code = files.filter((file) => /^dist\/.+\.js$/.test(file));
  checkNone(
    'every module has its types',
    code.filter((file) => !files.includes(file.replace(/\.js$/, '.d.ts'))),
  );
  checkNone(
    'every module is built from a source that is still there (otherwise delete `dist`)',
    code.filter((file) => !existsSync(join(folderOf(library), sourceOf(file)))),
  );
  checkNone('every source map points into the package', await mapsToNowhere(contents, files));
  checkNone(
    'package.json names every package that is imported',
    await undeclaredPackages(contents, files, manifest),
  );
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).toSorted();
}

/** The files that `main`, `types` and `exports` name. */
function entryPoints(manifest: { main?: string; types?: string; exports?: unknown }): string[] {
  const { main, types, exports } = manifest;
  const named = JSON.stringify({ main, types, exports }).match(/"\.\/[^"]+\.[^"]+"/g) ?? [];
  return [...new Set(named.map((text) => normalize(JSON.parse(text))))];
}

function sourceOf(file: string): string {
  return file.replace(/^dist\//, 'src/').replace(/\.js$/, '.ts');
}

async function mapsToNowhere(contents: string, files: string[]): Promise<string[]> {
  const maps = files.filter((file) => file.endsWith('.map'));
  const pointsToNowhere = await Promise.all(
    maps.map(async (file) => {
      const map = JSON.parse(await readFile(join(contents, file), 'utf8'));
      const sources: string[] = map.sourcesContent ? [] : map.sources;
      return sources.some((source) => !files.includes(join(dirname(file), map.sourceRoot ?? '', source)));
    }),
  );
  return maps.filter((_, index) => pointsToNowhere[index]);
}
