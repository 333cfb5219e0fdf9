import { chown, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { locateBinaries } from './binaries.js';
import { canEnter, chooseUser, runsAsRoot, type OperatingSystemUser } from './operating-system-user.js';
import { copyBinaries, prepareRefuge } from './refuge.js';

/** Where one database server lives, and as whom it runs. */
export interface Home {
  /** Belongs to `user`. */
  folder: string;
  /** Folder with `bin/`, `lib/` and `share/` that `user` can enter. */
  binaries: string;
  user?: OperatingSystemUser;
}

/**
 * The home that the project's database has between runs: in `.data/` of the project, or outside it when
 * that does not work. As root it does not when the unprivileged user that Postgres runs as cannot enter the
 * project, e.g. below `/root`; and as an ordinary user not when the project belongs to somebody else.
 */
export async function prepareHome(projectFolder: string): Promise<Home> {
  const binaries = await locateBinaries();
  const parent = join(projectFolder, '.data');
  await mkdir(parent, { recursive: true }).catch(() => undefined);
  const home = await tryHome(parent, binaries).catch(() => undefined);
  if (home) return home;

  const refuge = await prepareRefuge(projectFolder);
  const inRefuge = await tryHome(refuge, runsAsRoot() ? await copyBinaries(binaries, refuge) : binaries);
  if (inRefuge) return inRefuge;
  throw new Error(`Postgres can use neither ${parent} nor ${refuge} for its data.`);
}

/** A home in a folder that the caller has made, and removes, such as the one of a test run. */
export async function prepareHomeIn(folder: string, projectFolder: string): Promise<Home> {
  const user = chooseUser();
  if (user) await chown(folder, user.uid, user.gid);
  const binaries = await locateBinaries();
  if (!user || canEnter(user, join(binaries, 'bin/postgres'))) return { folder, binaries, user };
  return { folder, binaries: await copyBinaries(binaries, await prepareRefuge(projectFolder)), user };
}

async function tryHome(parent: string, binaries: string): Promise<Home | undefined> {
  const folder = join(parent, 'postgres-18');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid: owner, gid } = await stat(folder);
  if (!runsAsRoot()) return owner === process.getuid?.() ? { folder, binaries } : undefined;

  // Root goes on with what another user has begun as that user.
  const user = owner === 0 ? chooseUser()! : { uid: owner, gid };
  if (!canEnter(user, parent, join(binaries, 'bin/postgres'))) return undefined;
  await chown(folder, user.uid, user.gid);
  return { folder, binaries, user };
}
