import { EntityManager } from 'typeorm';
import { dataSourceOf } from '../typeorm-versions.js';
import { AmbientQueryRunner } from './ambient-query-runner.js';
import { currentNode } from './current-node.js';
import { refuseHigherIsolation } from './transaction-control.js';
import type { TransactionNode } from './transaction-node.js';

type Work = (manager: EntityManager) => Promise<unknown>;

let isInstalled = false;

/**
 * Gives each callback of `manager.transaction()` an async context of its own, so that it is known which calls
 * belong to it. On the prototype, since managers are made in many places: custom repositories have their own,
 * and some are older than this module. Outside an idempotent request nothing changes.
 */
export function makeTransactionsAmbient(): void {
  if (isInstalled) {
    return;
  }
  isInstalled = true;
  const original = EntityManager.prototype.transaction;
  const transaction = async function (this: EntityManager, ...args: unknown[]): Promise<unknown> {
    const node = nodeOf(this);
    const work = args.find((argument) => typeof argument === 'function') as Work | undefined;
    if (!node || !work) {
      return Reflect.apply(original, this, args);
    }
    refuseHigherIsolation(
      args.find((argument) => typeof argument === 'string'),
      node.transaction.isolation,
    );
    const dataSource = dataSourceOf(this);
    return node.runChild(this.queryRunner ?? this, (child) =>
      work(new AmbientQueryRunner(dataSource, child).manager),
    );
  };
  Object.assign(EntityManager.prototype, { transaction });
}

/** A manager with a runner of its own belongs where that runner does. */
function nodeOf(manager: EntityManager): TransactionNode | undefined {
  if (manager.queryRunner) {
    return manager.queryRunner instanceof AmbientQueryRunner ? manager.queryRunner.target() : undefined;
  }
  return currentNode(dataSourceOf(manager));
}
