import { AmbientTransactionError } from '../../errors/ambient-transaction.error.js';
import type { IsolationLevel } from '../../options/idempotent-options.interface.js';

/** White space, semicolons and comments before the first word of a statement. */
const LEADING = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;

/** What would begin or end the request's transaction. `ROLLBACK TO` and `PREPARE name AS` do not. */
const CONTROL =
  /^(?:BEGIN|START|COMMIT|END|ABORT|PREPARE\s+TRANSACTION|ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO\b))\b/i;

/** @throws AmbientTransactionError for SQL that begins or ends a transaction */
export function refuseTransactionControl(sql: string): void {
  const statement = sql.replace(LEADING, '');
  const word = CONTROL.exec(statement)?.[0];
  if (word) {
    throw new AmbientTransactionError(
      `'${word.toUpperCase()}' inside an idempotent request would end the transaction that protects it. ` +
        `Use dataSource.transaction(), which becomes a savepoint here, or mode 'lease' for this handler.`,
    );
  }
}

const LEVELS: readonly IsolationLevel[] = [
  'READ UNCOMMITTED',
  'READ COMMITTED',
  'REPEATABLE READ',
  'SERIALIZABLE',
];

/** @throws AmbientTransactionError when code inside asks for more isolation than the request's transaction has */
export function refuseHigherIsolation(asked: string | undefined, outer: string): void {
  if (asked !== undefined && rank(asked) > rank(outer)) {
    throw new AmbientTransactionError(
      `A transaction inside an idempotent request asked for ${asked}, and the request's transaction is ` +
        `${outer.toUpperCase()}. Set the option \`isolation: '${asked}'\` on @Idempotent().`,
    );
  }
}

function rank(level: string): number {
  return LEVELS.indexOf(level.toUpperCase() as IsolationLevel);
}

/** Takes back what was done since the savepoint, and forgets the savepoint. */
export function undoSavepoint(name: string): string {
  return `ROLLBACK TO SAVEPOINT ${name}; RELEASE SAVEPOINT ${name}`;
}
