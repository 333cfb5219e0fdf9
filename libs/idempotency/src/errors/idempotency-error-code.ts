/**
 * The `code` member of every answer that this library gives by itself.
 * Where `@nestjs/idempotency` has the same case, the code is the same.
 *
 * @publicApi
 */
export enum IdempotencyErrorCode {
  KeyRequired = 'IDEMPOTENCY_KEY_REQUIRED',
  KeyInvalid = 'IDEMPOTENCY_KEY_INVALID',
  KeyInUse = 'IDEMPOTENCY_KEY_IN_USE',
  KeyReused = 'IDEMPOTENCY_KEY_REUSED',
  OutcomeUnknown = 'IDEMPOTENCY_OUTCOME_UNKNOWN',
  ResponseUnavailable = 'IDEMPOTENCY_RESPONSE_UNAVAILABLE',
  ScopeUnresolved = 'IDEMPOTENCY_SCOPE_UNRESOLVED',
  BodyUnparsed = 'IDEMPOTENCY_BODY_UNPARSED',
  RecordUnreadable = 'IDEMPOTENCY_RECORD_UNREADABLE',
  NotCommitted = 'IDEMPOTENCY_NOT_COMMITTED',
  StoreUnavailable = 'IDEMPOTENCY_STORE_UNAVAILABLE',
  ShuttingDown = 'IDEMPOTENCY_SHUTTING_DOWN',
}
