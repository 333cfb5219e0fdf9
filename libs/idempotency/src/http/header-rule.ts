import { IdempotencyConfigurationError } from '../errors/idempotency-configuration.error.js';
import { checkFields } from '../options/known-fields.js';
import type { ReplayHeadersOptions } from '../options/idempotent-options.interface.js';

/** A replay frames its own body and has its own connection, and a cookie belongs to the first client alone. */
const NEVER_REPLAYED: ReadonlySet<string> = new Set([
  'set-cookie',
  'date',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
]);

/** What is true of the first request and not of the retry: who asked, how often, and under which id. */
const OF_ONE_REQUEST: readonly RegExp[] = [
  /^access-control-/,
  /^(x-)?rate-?limit/,
  /^(x-)?(request|correlation|trace|amzn-trace|b3)-?(id)?$/,
  /^x-b3-/,
  /^(traceparent|tracestate|server-timing)$/,
];

const MOST_KNOWN_NAMES = 1_000;

/** Decides which of the headers that a handler has set are stored and replayed. @internal */
export class HeaderRule {
  private readonly allow: ReadonlySet<string>;
  private readonly deny: ReadonlySet<string>;
  private readonly known = new Map<string, boolean>();

  constructor(options: ReplayHeadersOptions = {}) {
    checkFields('replayHeaders', options, ['allow', 'deny']);
    this.allow = names('replayHeaders.allow', options.allow);
    this.deny = names('replayHeaders.deny', options.deny);
    for (const name of this.allow) {
      if (NEVER_REPLAYED.has(name)) {
        throw new IdempotencyConfigurationError(
          `The option \`replayHeaders.allow\` names '${name}', which must not be replayed. Take it out.`,
        );
      }
    }
  }

  /** @param name in lower case */
  replays(name: string): boolean {
    let known = this.known.get(name);
    if (known === undefined) {
      known = this.decide(name);
      // Names come from the application's own code as a rule; what makes them up must not fill the memory.
      if (this.known.size < MOST_KNOWN_NAMES) {
        this.known.set(name, known);
      }
    }
    return known;
  }

  private decide(name: string): boolean {
    if (NEVER_REPLAYED.has(name) || this.deny.has(name)) {
      return false;
    }
    return this.allow.has(name) || !OF_ONE_REQUEST.some((pattern) => pattern.test(name));
  }
}

function names(option: string, value: string[] | undefined): ReadonlySet<string> {
  const isList = Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');
  if (value !== undefined && !isList) {
    throw new IdempotencyConfigurationError(
      `The option \`${option}\` is not a list of header names. Use one such as ['x-quota'].`,
    );
  }
  return new Set(value?.map((name) => name.toLowerCase()));
}
