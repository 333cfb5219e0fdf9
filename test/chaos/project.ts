import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the project. */
export const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export const SERVER_SCRIPT = join(PROJECT, 'apps/orders/dist/main.js');
export const MIGRATE_SCRIPT = join(PROJECT, 'apps/orders/dist/migrate.js');
