import { transformFileSync } from '@swc/core';

/** A file of interfaces is nothing at run time, so no test can load it, and it has no branch. */
export function hasTypesOnly(path: string): boolean {
  return transformFileSync(path, { minify: true, sourceMaps: false }).code === 'export{};';
}
