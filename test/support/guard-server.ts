import { type ChildProcess, spawn } from 'node:child_process';

/** Waits until its standard input ends, and kills the server then. One that was stopped (SIGSTOP) dies of it, too. */
const GUARD = 'read -r line; kill -KILL "$1"';

/** Lets a server end with this process, however that ends: the pipe to the guard closes also in a crash. */
export function guardServer(server: ChildProcess): void {
  // Detached: Ctrl-C in the terminal is for the tests, which may still need the server to come to their end.
  const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', `${server.pid}`], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  // Its number may be that of another process later.
  server.once('exit', () => guard.kill('SIGKILL'));
}
