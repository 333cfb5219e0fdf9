import { runAll } from './harness.js';
import { readOptions, UsageError } from './options.js';

class Interrupted extends Error {}

/** Rejects when the user wants no more. */
function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => reject(new Interrupted(`Ended by ${signal}.`)));
    }
  });
}

async function exitCode(): Promise<number> {
  try {
    const isIntact = await runAll(readOptions(process.argv.slice(2)), interruption());
    return isIntact ? 0 : 1;
  } catch (error) {
    const isExplained = error instanceof UsageError || error instanceof Interrupted;
    console.error(isExplained ? error.message : error);
    return isExplained ? 2 : 1;
  }
}

process.exit(await exitCode());
