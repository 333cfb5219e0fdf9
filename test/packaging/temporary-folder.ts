import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder outside of the workspace that is gone afterwards. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  // The real path: on macOS the folder for temporary files is a symbolic link.
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'exactly-once-packaging-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
