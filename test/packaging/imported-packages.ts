import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';

interface Manifest {
  name: string;
  dependencies?: object;
  peerDependencies?: object;
}

/** Not the methods of that name, such as `Buffer.from()`. */
const IMPORT = /(?<![.\w])(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;

/** Packages that the built modules or their types import, and that nobody would install with them. */
export async function undeclaredPackages(
  contents: string,
  files: string[],
  { name, dependencies, peerDependencies }: Manifest,
): Promise<string[]> {
  // Its own name stands in examples, and would find itself.
  const declared = [name, ...Object.keys({ ...dependencies, ...peerDependencies })];
  const built = files.filter((file) => /^dist\/.+\.(js|d\.ts)$/.test(file));
  const texts = await Promise.all(built.map((file) => readFile(join(contents, file), 'utf8')));
  const specifiers = texts.flatMap((text) => [...text.matchAll(IMPORT)].map(([, specifier]) => specifier!));
  const packages = specifiers.filter(isForeign).map(packageOf);
  return [...new Set(packages)].filter((found) => !declared.includes(found));
}

function isForeign(specifier: string): boolean {
  return !specifier.startsWith('.') && !isBuiltin(specifier);
}

/** `pg` of `pg/lib/client`, and `@nestjs/common` of `@nestjs/common/interfaces`. */
function packageOf(specifier: string): string {
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)![0];
}
