import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder outside the project that stands in for its `.data/`. Its name follows from the project's path,
 * so that the next start finds the same data.
 *
 * @throws Error when somebody else could have put something into it.
 */
export async function prepareRefuge(projectFolder: string): Promise<string> {
  const hash = createHash('sha256').update(projectFolder).digest('hex').slice(0, 12);
  // Unlike /tmp, /var/tmp outlives a restart of the machine.
  const refuge = join(
    existsSync('/var/tmp') ? '/var/tmp' : tmpdir(),
    `exactly-once-${hash}-${process.getuid?.() ?? 0}`,
  );
  await mkdir(refuge, { recursive: true });
  const found = await lstat(refuge);
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) {
    throw new Error(
      `${refuge} was made by another user and is not safe to use. Delete it, then start again.`,
    );
  }
  await chmod(refuge, 0o755);
  return refuge;
}

/** Copies under another name first: what has the final name is complete. */
export async function copyBinaries(binaries: string, refuge: string): Promise<string> {
  const manifest = await readFile(join(binaries, '../package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const target = join(refuge, `binaries-${version}`);
  if (existsSync(target)) return target;

  const unfinished = `${target}.${process.pid}`;
  await cp(binaries, unfinished, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', unfinished]);
  await rename(unfinished, target).catch(async (cause) => {
    await rm(unfinished, { recursive: true });
    // Another start was quicker.
    if (!existsSync(target)) throw cause;
  });
  return target;
}
