import { parseArgs } from 'node:util';

import { UsageError } from '../chaos/options.js';
import { CASE_NAMES, type CaseName } from './plan/cases.js';
import { type AdapterName, VARIANTS, type VariantName } from './processes/server/settings.js';

export const ADAPTERS: readonly AdapterName[] = ['express', 'fastify'];

export interface BenchmarkOptions {
  isQuick: boolean;
  cases: readonly CaseName[];
  /** Undefined: all, in a quick run those that the figures need. */
  variants: readonly VariantName[] | undefined;
  adapters: readonly AdapterName[];
  /** The figures are of the first number. */
  connections: readonly number[];
  rounds: number;
  /** How long each contestant is measured in each round. */
  seconds: number;
  /** How long each contestant runs before the first round. */
  warmUpSeconds: number;
  /** Database connections of each server. */
  poolSize: number;
  /** Sizes of the JSON that is sent, and returned by the handler. The figures are of the first one. */
  bodyBytes: readonly number[];
  /** What the numbers of records in S5 and S6 are multiplied by. */
  scale: number;
  /** Whether what the run is for is written into the documents: the table, or the plots. */
  write: boolean;
  /** Whether the run is for the plots. */
  isGrowth: boolean;
  /** Whether the run looks at the memory of the servers, and at nothing else. */
  isMemory: boolean;
}

const QUICK = { cases: 'S1,S2,S3,S4', connections: '64', rounds: '4', seconds: '1.2', 'warm-up': '1.2' };
/** What the figures are of. */
export function usualSize({ connections, bodyBytes }: BenchmarkOptions): {
  connections: number;
  bodyBytes: number;
} {
  return { connections: connections[0]!, bodyBytes: bodyBytes[0]! };
}

/** For the plots: few variants, and many numbers of connections and sizes of bodies. */
const GROWTH = {
  cases: 'S1,S2,S3',
  variants: 'bare,transaction,lease',
  adapters: 'fastify',
  connections: '64,1,8,256',
  'body-bytes': '32,1024,16384,131072',
  rounds: '3',
  seconds: '1.2',
  'warm-up': '1.2',
};
const FULL = {
  cases: 'S1,S2,S3,S4,S5,S6',
  connections: '64,8',
  rounds: '5',
  seconds: '2.5',
  'warm-up': '5',
};

type Given = ReturnType<typeof parse>;

/** @throws UsageError that names the option, its value and what it takes */
export function readOptions(args: string[]): BenchmarkOptions {
  const given = parse(args);
  if (given.memory && given.write) {
    throw new UsageError('--memory makes no table: leave --write out.');
  }
  const values: Given = { ...(given.quick ? QUICK : given.growth ? GROWTH : FULL), ...given };
  const { variants } = values;
  return {
    isQuick: values.quick ?? false,
    cases: listOf('cases', values.cases!, CASE_NAMES),
    variants: variants === undefined ? undefined : listOf('variants', variants, VARIANTS),
    adapters: listOf('adapters', values.adapters ?? ADAPTERS.join(), ADAPTERS),
    connections: wholeNumbers('connections', values.connections!),
    rounds: wholeNumber('rounds', values.rounds!),
    seconds: positive('seconds', values.seconds!),
    warmUpSeconds: positive('warm-up', values['warm-up']!),
    poolSize: wholeNumber('pool-size', values['pool-size'] ?? '10'),
    bodyBytes: wholeNumbers('body-bytes', values['body-bytes'] ?? '32'),
    scale: positive('scale', values.scale ?? '1'),
    write: values.write ?? args.length === 0,
    isGrowth: values.growth ?? false,
    isMemory: values.memory ?? false,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    quick: flag,
    growth: flag,
    memory: flag,
    write: flag,
    cases: text,
    variants: text,
    adapters: text,
    connections: text,
    rounds: text,
    seconds: text,
    'warm-up': text,
    'pool-size': text,
    'body-bytes': text,
    scale: text,
  };
  try {
    return parseArgs({ args, options, strict: true }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function listOf<T extends string>(name: string, text: string, allowed: readonly T[]): T[] {
  return text.split(',').map((item) => {
    const found = allowed.find((value) => value === item);
    if (found === undefined) {
      throw new UsageError(`--${name} has '${item}': it takes a list of ${allowed.join(', ')}.`);
    }
    return found;
  });
}

function wholeNumbers(name: string, text: string): number[] {
  return text.split(',').map((item) => wholeNumber(name, item));
}

function wholeNumber(name: string, text: string): number {
  const value = positive(name, text);
  if (!Number.isSafeInteger(value))
    throw new UsageError(`--${name} is '${text}': it must be a whole number.`);
  return value;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) {
    throw new UsageError(`--${name} is '${text}': it must be a number above 0.`);
  }
  return value;
}
