/**
 * A database call inside an idempotent request that its transaction cannot carry out. Nothing was sent to
 * the database.
 *
 * @publicApi
 */
export class AmbientTransactionError extends Error {
  override readonly name = 'AmbientTransactionError';
}
