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
export function readSettings(args: string[], { PORT }: NodeJS.ProcessEnv): Settings {
  return { file: readFileName(args), port: PORT === undefined || PORT === '' ? undefined : readPort(PORT) };
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
