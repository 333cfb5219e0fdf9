import { chmod, cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';

import { LauncherProcess } from './launcher-process.js';

const FAKE_APP = 'test/launcher/fake-app';

/**
 * A project of its own with this project's launcher and a fake app, so that a test may kill its database and
 * does not touch the one that the developer has in `.data/`.
 */
export class FakeProject {
  private readonly launchers: LauncherProcess[] = [];

  private constructor(readonly folder: string) {}

  /** Its folder is open to other users as that of a project usually is, or closed as the home of root is. */
  static async create({ closed = false } = {}): Promise<FakeProject> {
    const folder = await mkdtemp(join(tmpdir(), 'exactly-once-launcher-'));
    await chmod(folder, closed ? 0o700 : 0o755);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    await cp('src', join(folder, 'src'), { recursive: true });
    await cp(FAKE_APP, join(folder, 'apps/orders/dist'), { recursive: true });
    return new FakeProject(folder);
  }

  launch(env: NodeJS.ProcessEnv = {}): LauncherProcess {
    const launcher = new LauncherProcess(['--import', 'tsx', 'src/main.ts'], this.folder, env);
    this.launchers.push(launcher);
    return launcher;
  }

  /** The process that holds the database, or undefined when there is none. */
  async postmaster(): Promise<number | undefined> {
    const content = await readFile(this.postmasterFile, 'utf8').catch(() => undefined);
    return content === undefined ? undefined : Number(content.split('\n')[0]);
  }

  get postmasterFile(): string {
    return join(this.folder, '.data/postgres-18/data/postmaster.pid');
  }

  /** Whom the database runs as. */
  async databaseUser(): Promise<{ uid: number; gid: number }> {
    const { uid, gid } = await stat(join(this.folder, '.data/postgres-18/data'));
    return { uid, gid };
  }

  async remove(): Promise<void> {
    for (const launcher of this.launchers) await launcher.stop();
    const postmaster = await this.postmaster();
    if (postmaster) process.kill(postmaster, 'SIGQUIT');
    while (await this.postmaster()) await new Promise((resolve) => setTimeout(resolve, 50));
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What the fake app says about itself. */
export async function askApp(address: string): Promise<{ pid: number; databaseUrl: string }> {
  const response = await fetch(address);
  return (await response.json()) as { pid: number; databaseUrl: string };
}

/** How often the fake migrations have run on this database. */
export async function countStarts(databaseUrl: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query('SELECT count(*)::int AS starts FROM starts');
  await client.end();
  return rows[0].starts;
}
