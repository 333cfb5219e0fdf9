const controller = new AbortController();

/** Aborts when this process is told to stop. Whoever waits for something gives up then, and cleans up. */
export const interruption: AbortSignal = controller.signal;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => controller.abort(new Error(`Interrupted by ${signal}.`)));
}
