import { spawn } from 'node:child_process';

import { interruption } from './interruption.js';
import { outsideEnvironment } from './outside-environment.js';

export interface CommandOptions {
  cwd: string;
  /** Variables beside those of a terminal outside of the project. */
  variables?: Record<string, string>;
  /** Exit codes that are no failure. @default [0] */
  expectedCodes?: number[];
}

/**
 * Prints the command, runs it to its end and returns its standard output.
 *
 * @throws Error with all that it has printed when it fails
 */
export async function run(command: string, args: string[], options: CommandOptions): Promise<string> {
  const { cwd, variables, expectedCodes = [0] } = options;
  interruption.throwIfAborted();
  const line = [command, ...args].join(' ');
  console.log(`$ ${line}`);
  const child = spawn(command, args, {
    cwd,
    env: { ...outsideEnvironment(), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: interruption,
  });
  let output = '';
  let everything = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    everything += chunk;
  });
  child.stderr.on('data', (chunk) => (everything += chunk));
  let failure: Error | undefined;
  child.on('error', (error) => (failure = error));
  // Not before its end, so that it does not write to a folder that is being removed.
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  interruption.throwIfAborted();
  if (failure) throw failure;
  if (code !== null && expectedCodes.includes(code)) return output;
  throw new Error(`${line} ended with ${code}:\n${everything.trim()}`);
}
