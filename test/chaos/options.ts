import { parseArgs } from 'node:util';

export const FAULTS = ['kill', 'cut', 'stall', 'restart', 'pool', 'skew'] as const;
export const MODES = ['transaction', 'lease'] as const;
export const STORES = ['postgres', 'redis'] as const;
export const PROTECTIONS = ['unique-key', 'fencing'] as const;

export type Fault = (typeof FAULTS)[number];
export type Mode = (typeof MODES)[number];
export type Store = (typeof STORES)[number];
export type Protection = (typeof PROTECTIONS)[number];

export interface ChaosOptions {
  /** Seconds during which there are faults, for each mode. */
  seconds: number;
  servers: number;
  clients: number;
  seed: number;
  modes: readonly Mode[];
  /** Where the idempotency records are. */
  store: Store;
  faults: ReadonlySet<Fault>;
  /** Whether concurrent requests share their statements. */
  batching: boolean;
  /** Whether Redis keeps on disk what it has answered. */
  persistence: boolean;
  /** The protection that is taken out, to show that the checks can fail. */
  broken: Protection | undefined;
}

/** A command line that cannot be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError that names the option, its value and what it takes */
export function readOptions(args: string[]): ChaosOptions {
  const values = parse(args);
  const store = oneOf('store', values.store ?? 'postgres', STORES);
  if (store === 'redis') refuseWithRedis(values);
  else refuseWithPostgres(values);
  return {
    seconds: wholeNumber('seconds', values.seconds, 30, 1),
    servers: wholeNumber('servers', values.servers, 3, 1),
    clients: wholeNumber('clients', values.clients, 16, 1),
    seed: wholeNumber('seed', values.seed, Date.now() % 1_000_000, 0),
    modes: modesOf(values.mode ?? 'both', store),
    store,
    faults: new Set(listOf('faults', values.faults ?? FAULTS.join(','))),
    batching: isOn('batching', values.batching),
    persistence: isOn('persistence', values.persistence),
    broken: values.break === undefined ? undefined : oneOf('break', values.break, PROTECTIONS),
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const options = {
    seconds: text,
    servers: text,
    clients: text,
    seed: text,
    mode: text,
    store: text,
    faults: text,
    batching: text,
    persistence: text,
    break: text,
  };
  try {
    return parseArgs({ args, options, strict: true }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

type Values = ReturnType<typeof parse>;

function refuseWithRedis(values: Values): void {
  if (values.mode === 'transaction') {
    throw new UsageError(
      "--mode is 'transaction', and --store redis has only lease: a transaction of Postgres's cannot write a record in Redis.",
    );
  }
  if (values.break === 'unique-key') {
    throw new UsageError(
      "--break is 'unique-key', a protection of Postgres's table; with --store redis it must be fencing.",
    );
  }
  if (values.batching !== undefined) {
    throw new UsageError('--batching is about statements to Postgres; it cannot be set with --store redis.');
  }
}

function refuseWithPostgres(values: Values): void {
  if (values.persistence !== undefined) {
    throw new UsageError('--persistence is about what Redis keeps on disk; it needs --store redis.');
  }
}

function modesOf(mode: string, store: Store): readonly Mode[] {
  const chosen = mode === 'both' ? MODES : [oneOf('mode', mode, MODES, 'both')];
  return store === 'redis' ? ['lease'] : chosen;
}

function isOn(name: string, text = 'on'): boolean {
  return oneOf(name, text, ['on', 'off']) === 'on';
}

/** @param least the smallest that is allowed */
export function wholeNumber(
  name: string,
  text: string | undefined,
  otherwise: number,
  least: number,
): number {
  const value = text === undefined ? otherwise : Number(text);
  if (text?.trim() === '' || !Number.isSafeInteger(value) || value < least) {
    throw new UsageError(`--${name} is '${text}': it must be a whole number from ${least} on.`);
  }
  return value;
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[], ...more: string[]): T {
  const found = allowed.find((value) => value === text);
  if (found === undefined) {
    throw new UsageError(`--${name} is '${text}': it must be one of ${[...allowed, ...more].join(', ')}.`);
  }
  return found;
}

/** Names with commas between them; none at all is a run without faults. */
function listOf(name: string, text: string): Fault[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => oneOf(name, part, FAULTS));
}
