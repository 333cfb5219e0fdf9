/** Error numbers of MariaDB. Source: its manual, "MariaDB Error Code Reference". */
const DUPLICATE_KEY = 1062;
const RECORD_CHANGED = 1020;
const LOCK_WAIT_TIMEOUT = 1205;
const DEADLOCK = 1213;
const RACES: readonly unknown[] = [DUPLICATE_KEY, RECORD_CHANGED, LOCK_WAIT_TIMEOUT, DEADLOCK];

const TABLE_FULL = 1114;
const DISK_FULL = 1021;
const PACKET_TOO_LARGE = 1153;
const READ_ONLY_OPTION = 1290;
const READ_ONLY_TRANSACTION = 1792;
const READ_ONLY_ENGINE = 1036;
const REFUSALS: readonly unknown[] = [
  TABLE_FULL,
  DISK_FULL,
  PACKET_TOO_LARGE,
  READ_ONLY_OPTION,
  READ_ONLY_TRANSACTION,
  READ_ONLY_ENGINE,
];

/** Syntax, rights, missing tables and columns: judged before a statement is begun. */
const REFUSED_AT_FIRST_SIGHT = /^(28|42)/;

interface ServerError {
  readonly errno?: unknown;
  readonly sqlState?: unknown;
}

/** The server has answered with an error; without that, nobody knows what became of a statement. */
export function isServerError(error: unknown): error is Error & ServerError {
  return error instanceof Error && typeof (error as ServerError).sqlState === 'string';
}

/** The statement lost to another one, and has had no effect: the same may succeed when it is done again. */
export function isLostRace(error: unknown): boolean {
  return isServerError(error) && RACES.includes(error.errno);
}

/** The server has refused the statement as such, so it has had no effect. Other errors may come at the commit. */
export function isRefusal(error: unknown): boolean {
  return (
    isServerError(error) &&
    (REFUSALS.includes(error.errno) || REFUSED_AT_FIRST_SIGHT.test(String(error.sqlState)))
  );
}
