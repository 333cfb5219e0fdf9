import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { run } from './commands.js';
import type { Home } from './home.js';

/** A data folder that is complete, with the password of its superuser `postgres`. */
export interface Cluster extends Home {
  data: string;
  log: string;
  password: string;
}

/** Opens the data folder of this home, and makes it the first time. */
export async function openCluster(home: Home, durable: boolean): Promise<Cluster> {
  const data = join(home.folder, 'data');
  const passwordFile = join(home.folder, 'password');
  if (!existsSync(data)) await createCluster(home, data, passwordFile, durable);
  const password = (await readFile(passwordFile, 'utf8')).trim();
  return { ...home, data, log: join(home.folder, 'postgres.log'), password };
}

/**
 * Under another name first: what is called `data` is complete. After a kill, `initdb` may still be writing
 * to its folder when the next start removes that, and what is left then is removed another time.
 */
async function createCluster(
  home: Home,
  data: string,
  passwordFile: string,
  durable: boolean,
): Promise<void> {
  for (const name of await readdir(home.folder)) {
    if (!name.startsWith('data.unfinished')) continue;
    await rm(join(home.folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
  const unfinished = `${data}.unfinished-${process.pid}`;
  await writeFile(passwordFile, randomBytes(18).toString('base64url'), { mode: 0o600 });
  if (home.user) await chown(passwordFile, home.user.uid, home.user.gid);
  const args = [
    `--pgdata=${unfinished}`,
    `--pwfile=${passwordFile}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
  ];
  await run(join(home.binaries, 'bin/initdb'), durable ? args : [...args, '--no-sync'], home.user);
  await rename(unfinished, data);
}
