import { access, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { transform } from '@swc/core';

/** The sources of the libraries, so that nothing has to be built. */
const LIBRARIES = new Map([
  ['@exactly-once/nestjs', new URL('../../libs/idempotency/src/index.ts', import.meta.url).href],
  ['@exactly-once/redis', new URL('../../libs/redis/src/index.ts', import.meta.url).href],
]);

/** TypeScript sources import each other by the names of the files that will be built. */
export async function resolve(specifier, context, next) {
  if (LIBRARIES.has(specifier)) {
    return next(LIBRARIES.get(specifier), context);
  }
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (await exists(source)) {
      return next(source.href, context);
    }
  }
  return next(specifier, context);
}

/** As Jest does, and unlike `tsx`, it keeps the types of constructor parameters, by which Nest injects. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) {
    return next(url, context);
  }
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), { filename, sourceMaps: 'inline' });
  return { format: 'module', source: code, shortCircuit: true };
}

async function exists(url) {
  return access(url).then(
    () => true,
    () => false,
  );
}
