import type { DataSource, QueryRunner } from 'typeorm';
import { makeTransactionsAmbient } from './ambient-manager.js';
import { AmbientQueryRunner } from './ambient-query-runner.js';
import { currentNode } from './current-node.js';

type CreateQueryRunner = DataSource['createQueryRunner'];

const originals = new WeakMap<DataSource, CreateQueryRunner>();

/**
 * Makes the transaction of an idempotent request ambient on this DataSource. Every path in TypeORM that has
 * no query runner of its own asks `createQueryRunner()`, so this one method covers repositories, query
 * builders, `query()` and runners that users make by themselves.
 *
 * @returns the original method, for connections that are not part of a request's transaction
 */
export function makeAmbient(dataSource: DataSource): () => QueryRunner {
  let original = originals.get(dataSource);
  if (!original) {
    original = dataSource.createQueryRunner.bind(dataSource);
    originals.set(dataSource, original);
    dataSource.createQueryRunner = ambientRunners(dataSource, original);
    makeTransactionsAmbient();
  }
  return original;
}

function ambientRunners(dataSource: DataSource, original: CreateQueryRunner): CreateQueryRunner {
  return (mode) => {
    const node = currentNode(dataSource);
    return node ? new AmbientQueryRunner(dataSource, node) : original(mode);
  };
}
