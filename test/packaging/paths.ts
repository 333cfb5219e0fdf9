import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGING_FOLDER = dirname(fileURLToPath(import.meta.url));
export const PROJECT_FOLDER = dirname(dirname(PACKAGING_FOLDER));
export const LIBRARY_FOLDER = join(PROJECT_FOLDER, 'libs/idempotency');
export const LIBRARY_NAME = '@exactly-once/nestjs';
