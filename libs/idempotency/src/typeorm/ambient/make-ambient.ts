import type { DataSource, QueryRunner } from 'typeorm';
import { makeTransactionsAmbient } from './ambient-manager.js';
import { ambientManager, AmbientQueryRunner } from './ambient-query-runner.js';
import { ambientNode, type TransactionNode } from './transaction-node.js';

type CreateQueryRunner = DataSource['createQueryRunner'];

const originals = new WeakMap<DataSource, CreateQueryRunner>();

/**
 * Makes the transaction of an idempotent request ambient on this DataSource. Every path in TypeORM that has
 * no query runner of its own asks `createQueryRunner()`, so this one method covers repositories, query
 * builders, `query()`, `transaction()` and runners that users make by themselves.
 *
 * @returns the original method, for connections that are not part of a request's transaction
 */
export function makeAmbient(dataSource: DataSource): () => QueryRunner {
  let original = originals.get(dataSource);
  if (!original) {
    original = dataSource.createQueryRunner.bind(dataSource);
    originals.set(dataSource, original);
    install(dataSource, original);
  }
  return original;
}

function install(dataSource: DataSource, original: CreateQueryRunner): void {
  const nodeHere = (): TransactionNode | undefined => currentNode(dataSource);
  makeTransactionsAmbient(dataSource.manager, nodeHere, ambientManager(dataSource));
  dataSource.createQueryRunner = (mode): QueryRunner => {
    const node = nodeHere();
    return node ? new AmbientQueryRunner(dataSource, node) : original(mode);
  };
}

/** The innermost node whose callback is not over; none when the transaction is committed, or is another DataSource's. */
function currentNode(dataSource: DataSource): TransactionNode | undefined {
  let node = ambientNode.getStore();
  if (!node || node.transaction.dataSource !== dataSource) {
    return undefined;
  }
  while (!node.isOpen && node.parent) {
    node = node.parent;
  }
  return node.transaction.state === 'committed' && !node.isOpen ? undefined : node;
}
