import * as library from '../../libs/idempotency/src/index.js';
import { ProblemDetails } from '../../libs/idempotency/src/http/problem-details.js';
import { resolveModuleOptions } from '../../libs/idempotency/src/options/resolve-module-options.js';

const RETRY_AFTER = 1_000;

/** One of each answer of the library, by the name of its error. */
export const ERRORS: Readonly<Record<string, library.IdempotencyError>> = {
  KeyRequired: new library.IdempotencyKeyRequiredError(`the header ${library.IDEMPOTENCY_KEY_HEADER}`),
  KeyInvalid: new library.IdempotencyKeyInvalidError('The key is empty.'),
  KeyInUse: new library.IdempotencyKeyInUseError(RETRY_AFTER),
  KeyReused: new library.IdempotencyKeyReusedError(),
  AttemptAbandoned: new library.IdempotencyAttemptAbandonedError(),
  ResponseUnavailable: new library.IdempotencyResponseUnavailableError(),
  ScopeUnresolved: new library.IdempotencyScopeUnresolvedError(),
  BodyUnparsed: new library.IdempotencyBodyUnparsedError(),
  RecordUnreadable: new library.IdempotencyRecordUnreadableError(),
  NotCommitted: new library.IdempotencyNotCommittedError(RETRY_AFTER),
  OutcomeUnknown: new library.IdempotencyOutcomeUnknownError(RETRY_AFTER),
  StoreUnavailable: new library.IdempotencyStoreUnavailableError(RETRY_AFTER),
  ShuttingDown: new library.IdempotencyShuttingDownError(RETRY_AFTER),
};

const exported = Object.entries(library).filter(
  ([name]) => name.endsWith('Error') && name !== library.IdempotencyError.name,
);

/** Names of the errors that a client can get. */
export const ANSWERS: readonly string[] = namesOf((value) => isAnswer(value));

/** Names of the other ones. */
export const OTHER_ERRORS: readonly string[] = namesOf((value) => !isAnswer(value));

function namesOf(isMeant: (value: unknown) => boolean): string[] {
  return exported.filter(([, value]) => isMeant(value)).map(([name]) => name);
}

/** An attempt that has lost its lease is answered for by the one that took it over, or as unknown. */
function isAnswer(value: unknown): boolean {
  return (
    typeof value === 'function' &&
    value.prototype instanceof library.IdempotencyError &&
    value !== library.IdempotencyLeaseLostError
  );
}

const details = new ProblemDetails(resolveModuleOptions({ scope: false }));

/** The body that a client gets, in lines. */
export function problemExample(name: string): string {
  const error = ERRORS[name];
  if (!error) {
    throw new Error(`There is no error '${name}'.`);
  }
  return `${JSON.stringify(JSON.parse(details.render(error).body.toString()), undefined, 2)}\n`;
}
