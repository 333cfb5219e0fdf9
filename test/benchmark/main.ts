import { UsageError } from '../chaos/options.js';
import { interruption } from '../packaging/interruption.js';
import { runBenchmark } from './harness.js';
import { readOptions } from './options.js';

async function exitCode(): Promise<number> {
  try {
    const isProved = await runBenchmark(readOptions(process.argv.slice(2)), interruption);
    return isProved ? 0 : 1;
  } catch (error) {
    const isExplained = error instanceof UsageError || error === interruption.reason;
    console.error(isExplained ? (error as Error).message : error);
    return isExplained ? 2 : 1;
  }
}

process.exit(await exitCode());
