import { AmbientTransactionError } from '../../errors/ambient-transaction.error.js';
import type { IsolationLevel } from '../../options/idempotent-options.interface.js';
import { firstWordsOfStatements } from './sql-statements.js';

/** Most SQL is seen at a glance to hold none of it. */
const SUSPICIOUS = /\b(?:BEGIN|START|COMMIT|END|ABORT|PREPARE|ROLLBACK)\b/i;

/** @throws AmbientTransactionError for SQL of which a statement begins or ends a transaction */
export function refuseTransactionControl(sql: string): void {
  const statements = SUSPICIOUS.test(sql) ? firstWordsOfStatements(sql, 3) : [];
  const control = statements.find(isTransactionControl);
  if (control) {
    throw new AmbientTransactionError(
      `'${control[0]}' inside an idempotent request would end the transaction that protects it. ` +
        `Use dataSource.transaction(), which becomes a savepoint here, or mode 'lease' for this handler.`,
    );
  }
}

/** `ROLLBACK TO` a savepoint and `PREPARE name AS` a statement end nothing. */
function isTransactionControl([first, second, third]: string[]): boolean {
  switch (first) {
    case 'BEGIN':
    case 'START':
    case 'COMMIT':
    case 'END':
    case 'ABORT':
      return true;
    case 'PREPARE':
      return second === 'TRANSACTION';
    case 'ROLLBACK':
      return second !== 'TO' && !((second === 'WORK' || second === 'TRANSACTION') && third === 'TO');
    default:
      return false;
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
