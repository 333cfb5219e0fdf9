import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import type { Protection } from '../options.js';
import { withClient } from '../postgres.js';

const FOLDER = dirname(fileURLToPath(import.meta.url));

/** The flags of Node with which a server lacks this protection. */
export function flagsWithout(protection: Protection | undefined): string[] {
  return protection ? ['--import', pathToFileURL(join(FOLDER, `${protection}.mjs`)).href] : [];
}

/** Takes out what the database does for this protection. */
export async function breakDatabase(databaseUrl: string, protection: Protection | undefined): Promise<void> {
  if (protection !== 'unique-key') return;
  await withClient(databaseUrl, async (client) => {
    await client.query('ALTER TABLE idempotency_records DROP CONSTRAINT idempotency_records_pkey');
    // Only for speed.
    await client.query('CREATE INDEX ON idempotency_records (id)');
  });
}
