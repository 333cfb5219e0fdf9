import type { EntityManager } from 'typeorm';
import { refuseHigherIsolation } from './transaction-control.js';
import type { TransactionNode } from './transaction-node.js';

type Work = (manager: EntityManager) => Promise<unknown>;

/**
 * Turns `manager.transaction()` into a nested transaction with an async context of its own, wherever
 * `currentNode` gives a node; elsewhere it stays as it was.
 *
 * @param managerOf makes the manager that a callback gets
 */
export function makeTransactionsAmbient(
  manager: EntityManager,
  currentNode: () => TransactionNode | undefined,
  managerOf: (node: TransactionNode) => EntityManager,
): void {
  const original = manager.transaction.bind(manager) as (...args: unknown[]) => Promise<unknown>;
  const transaction = async (...args: [Work] | [string, Work]): Promise<unknown> => {
    const node = currentNode();
    const work = args.at(-1);
    if (!node || typeof work !== 'function') {
      return original(...args);
    }
    refuseHigherIsolation(args.length > 1 ? (args[0] as string) : undefined, node.transaction.isolation);
    return node.runChild(manager.queryRunner ?? manager, (child) => work(managerOf(child)));
  };
  Object.assign(manager, { transaction });
}
