import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import type { ChaosOptions, Protection } from '../options.js';
import { withClient } from '../postgres.js';

const FOLDER = dirname(fileURLToPath(import.meta.url));

/** The flags of Node with which a server lacks the protection that is taken out. */
export function flagsWithout({ broken, store }: ChaosOptions): string[] {
  if (!broken) return [];
  const module = store === 'redis' ? `${broken}-in-redis.mjs` : `${broken}.mjs`;
  return ['--import', pathToFileURL(join(FOLDER, module)).href];
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
