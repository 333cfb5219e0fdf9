import type { DataSource } from 'typeorm';
import { ambientNode, type TransactionNode } from './transaction-node.js';

/**
 * Where a database call that is made now belongs: the innermost node whose callback is not over. There is none
 * outside a request, after its commit, and on another DataSource.
 */
export function currentNode(dataSource: DataSource): TransactionNode | undefined {
  let node = ambientNode.getStore();
  if (node?.transaction.dataSource !== dataSource) {
    return undefined;
  }
  while (node.parent && !node.isOpen) {
    node = node.parent;
  }
  return node.transaction.state === 'committed' && !node.isOpen ? undefined : node;
}
