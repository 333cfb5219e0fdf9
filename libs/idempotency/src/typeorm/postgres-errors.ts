import pg from 'pg';

/** Error codes of Postgres. Source: the manual, appendix A. */
const UNIQUE_VIOLATION = '23505';
const NOT_NULL_VIOLATION = '23502';
const IN_FAILED_TRANSACTION = '25P02';
const IDLE_IN_TRANSACTION_TIMEOUT = '25P03';
const DIVISION_BY_ZERO = '22012';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/** Connection exceptions, shutdowns and time-outs that end the session, and internal errors. */
const ENDS_SESSION = /^(08|57P|25P0[34]|XX)/;

/** The code rather than the severity, which is in the server's language. */
function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** The server refused the statement and said so: the connection is in a known state. */
export function isRefusedByServer(error: unknown): boolean {
  const code = sqlState(error);
  return code !== undefined && !ENDS_SESSION.test(code);
}

/** The server ended the session since its transaction was open for too long. */
export function isIdleTimeout(error: unknown): boolean {
  return sqlState(error) === IDLE_IN_TRANSACTION_TIMEOUT;
}

/** The same work may succeed when it is done again. */
export function isTransient(error: unknown): boolean {
  const code = sqlState(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === UNIQUE_VIOLATION;
}

export function isNotNullViolation(error: unknown): boolean {
  return sqlState(error) === NOT_NULL_VIOLATION;
}

export function isDivisionByZero(error: unknown): boolean {
  return sqlState(error) === DIVISION_BY_ZERO;
}

/** An earlier statement had failed, and its error was swallowed. */
export function isInFailedTransaction(error: unknown): boolean {
  return sqlState(error) === IN_FAILED_TRANSACTION;
}

/** Repeats work that lost to another transaction; it has had no effect then. */
export async function retryTransient<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || tries === 5) {
        throw error;
      }
    }
  }
}
