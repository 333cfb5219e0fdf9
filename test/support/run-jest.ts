import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Runs `npm test` with these arguments and returns its exit code. What it prints goes to standard error,
 * since the caller's own result is on standard output. Its report is removed first, so that one from
 * before cannot be taken for this run's.
 */
export async function runJest(args: string[], report: string): Promise<number> {
  await rm(report, { force: true });
  await mkdir(dirname(report), { recursive: true });
  const child = spawn('npm', ['test', '--', ...args], { stdio: ['ignore', 2, 2] });
  const [code] = await once(child, 'close');
  return code ?? 1;
}
