import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_ANSWERS } from './read-answers.js';
import { UsageError } from './usage.error.js';

export interface Settings {
  /** With the answers. */
  file: string;
  /** Undefined for the first free one. */
  port: number | undefined;
}

/** @throws UsageError */
export function readSettings(args: string[], { PORT, INIT_CWD = '' }: NodeJS.ProcessEnv): Settings {
  // A script of npm runs in the project's folder, wherever it was typed.
  return {
    file: resolve(INIT_CWD, readFileName(args)),
    port: PORT === undefined || PORT === '' ? undefined : readPort(PORT),
  };
}

function readFileName(args: string[]): string {
  try {
    return (
      parseArgs({ args, options: { answers: { type: 'string' } }, strict: true }).values.answers ??
      DEFAULT_ANSWERS
    );
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. The only option is --answers <file>.`);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`PORT is '${text}': it must be a port number.`);
  }
  return port;
}
