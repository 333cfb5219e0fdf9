import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser of `CHROMIUM_PATH`, or one on the path. */
export function findChromium(): string | undefined {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  const candidates = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...(CHROMIUM_PATH ? [CHROMIUM_PATH] : []), ...candidates].find(isExecutable);
}

/** @returns what was done, for the user @throws Error that says what to do */
export function ensureChromium(): string {
  const found = findChromium();
  if (found) return `Chromium: found ${found}`;
  try {
    install('apt-get', ['install', '-y', '--no-install-recommends', 'chromium']);
  } catch (cause) {
    throw new Error(
      'There is no Chromium, and apt-get cannot install it. Install it, or set CHROMIUM_PATH.',
      { cause },
    );
  }
  return `Chromium: installed ${findChromium()} by apt-get`;
}

function install(command: string, args: string[]): void {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, stdio: 'ignore' } as const;
  try {
    execFileSync(command, args, options);
  } catch {
    // The lists of packages may be missing, as in images of containers.
    execFileSync(command, ['update'], options);
    execFileSync(command, args, options);
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
