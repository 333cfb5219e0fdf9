import { spawnSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const SOURCES = ['libs/idempotency/src', 'libs/redis/src', 'apps/orders/src', 'src'];
const BUILT = [
  'libs/idempotency/dist/index.js',
  'libs/redis/dist/index.js',
  'apps/orders/dist/main.js',
  'dist/main.js',
];

/** Builds the project, unless that has been done since its sources were last changed. */
export async function ensureBuilt(): Promise<void> {
  const changed = Math.max(...(await Promise.all(SOURCES.map(newestIn))));
  const built = Math.min(...(await Promise.all(BUILT.map(timeOf))));
  if (built < changed) build();
}

function build(): void {
  const { status, stdout } = spawnSync('npm', ['run', 'build'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The project cannot be built:\n${stdout}`);
}

async function newestIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  return Math.max(...(await Promise.all(names.map((name) => timeOf(join(folder, name))))));
}

/** Before everything else when there is no such file. */
async function timeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
}
