/** Within this time, one Ctrl-C arrives from the terminal and once more from npm. */
const SAME_SIGNAL_MS = 1_000;

const PARENT_CHECK_MS = 500;

interface Stoppable {
  stop(): void;
  kill(): void;
}

/** The first signal stops in order, the second one does not wait for requests. */
export function onStopSignals(target: Stoppable): void {
  let first: number | undefined;
  const receive = () => {
    first ??= Date.now();
    if (Date.now() - first < SAME_SIGNAL_MS) target.stop();
    else target.kill();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, receive);
  // The terminal is gone, or the program that read our output: nobody is there to be told anything.
  process.stdout.on('error', () => target.stop());
  process.stderr.on('error', () => target.stop());
  stopWithNpm(target);
}

/** A killed npm passes no signal on, and whoever killed it means this process too. */
function stopWithNpm(target: Stoppable): void {
  if (process.env['npm_lifecycle_event'] !== 'start') return;
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) target.stop();
  }, PARENT_CHECK_MS).unref();
}
