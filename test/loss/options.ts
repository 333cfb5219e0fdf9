import { parseArgs } from 'node:util';

import { UsageError, wholeNumber } from '../chaos/options.js';

export interface LossOptions {
  intents: number;
  /** Share of the requests, and of the responses to the others, that are lost. */
  loss: number;
  /** Intents that are carried out at the same time. */
  clients: number;
  seed: number;
}

/** @throws UsageError that names the option, its value and what it takes */
export function readOptions(args: string[]): LossOptions {
  const values = parse(args);
  const loss = Number(values.loss ?? 0.3);
  if (!(loss >= 0 && loss <= 0.9)) {
    throw new UsageError(`--loss is '${values.loss}': it must be a number from 0 to 0.9.`);
  }
  return {
    loss,
    intents: wholeNumber('intents', values.intents, 1000, 1),
    clients: wholeNumber('clients', values.clients, 16, 1),
    seed: wholeNumber('seed', values.seed, Date.now() % 1_000_000, 0),
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args,
      options: { intents: text, loss: text, clients: text, seed: text },
      strict: true,
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
