import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGING_FOLDER = dirname(fileURLToPath(import.meta.url));
export const TEMPLATES = join(PACKAGING_FOLDER, 'fresh-app');
export const PROJECT_FOLDER = dirname(dirname(PACKAGING_FOLDER));

/** By their folders in `libs`. */
export const PACKAGE_NAMES = {
  idempotency: '@exactly-once/nestjs',
  client: '@exactly-once/client',
  redis: '@exactly-once/redis',
} as const;

export type Library = keyof typeof PACKAGE_NAMES;

export function folderOf(library: Library): string {
  return join(PROJECT_FOLDER, 'libs', library);
}
