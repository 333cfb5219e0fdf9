import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Guard } from '../chaos/guard.js';
import { UsageError } from '../chaos/options.js';
import { buildIfStale } from '../chaos/servers/build.js';
import { runLoss, type LossResult } from './loss-run.js';
import { readOptions } from './options.js';

function describe(result: LossResult): string[] {
  const { intents, answered, named, orders, attempts, replayed, requests } = result;
  return [
    `${intents} intents, ${answered} answered with an order, ${named} different orders named, ${orders} orders in the database`,
    `${requests} requests, ${result.requestsDropped} of them dropped, and ${result.responsesDropped} responses dropped`,
    `${attempts} attempts, ${replayed} answers were replays`,
  ];
}

function isIntact({ intents, answered, named, orders }: LossResult): boolean {
  return [answered, named, orders].every((count) => count === intents);
}

async function exitCode(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  await buildIfStale();
  const folder = await mkdtemp(join(tmpdir(), 'exactly-once-loss-'));
  const guard = new Guard(folder);
  try {
    console.log(
      `seed ${options.seed}, ${options.loss * 100} % of the requests and of the responses are lost`,
    );
    const result = await runLoss(options, folder, guard);
    describe(result).forEach((line) => console.log(line));
    return isIntact(result) ? 0 : 1;
  } finally {
    await guard.end();
  }
}

process.exitCode = await exitCode().catch((error: unknown) => {
  console.error(error instanceof UsageError ? error.message : error);
  return error instanceof UsageError ? 2 : 1;
});
