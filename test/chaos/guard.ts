import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/**
 * Reads lines of process ids until its standard input ends, and then kills those of the last line, and the
 * Postgres of the folder, and removes the folder. A stopped process (SIGSTOP) dies of SIGKILL, too.
 */
const GUARD = `
while IFS= read -r line; do pids=$line; done
for pid in $pids; do
  kill -KILL "$pid" 2>/dev/null
  rm -f "/dev/shm/faketime_shm_$pid" "/dev/shm/sem.faketime_sem_$pid"
done
postmaster=$1/data/postmaster.pid
if [ -e "$postmaster" ]; then
  kill -QUIT "$(head -n 1 "$postmaster")" 2>/dev/null
  for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e "$postmaster" ] || break
    sleep 0.1
  done
fi
rm -rf "$1"
`;

/**
 * Ends what this run has started, however the run itself ends: the pipe to this process closes when the run is
 * over, crashes or is killed.
 */
export class Guard {
  private readonly pids = new Set<number>();
  private readonly child: ChildProcess;
  private over = false;

  /** @param folder of the run, which is removed with all that is in it */
  constructor(folder: string) {
    // Detached: Ctrl-C in the terminal is for the run, after which there is still something to do.
    this.child = spawn('/bin/sh', ['-c', GUARD, 'sh', folder], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.child.stdin!.on('error', () => undefined);
  }

  /** Whether nothing may be started any more. */
  get isOver(): boolean {
    return this.over;
  }

  /** What comes after the end is ended at once. */
  watch(process: ChildProcess): void {
    const { pid } = process;
    if (pid === undefined) return;
    if (this.over) process.kill('SIGKILL');
    this.pids.add(pid);
    this.tell();
    process.once('exit', () => {
      this.pids.delete(pid);
      this.tell();
    });
  }

  /** Ends everything that is left, and waits for it. */
  async end(): Promise<void> {
    this.over = true;
    const exit = once(this.child, 'exit');
    this.child.stdin!.end();
    await exit;
  }

  private tell(): void {
    this.child.stdin!.write(`${[...this.pids].join(' ')}\n`);
  }
}
