import type { DataSource, EntityManager, QueryRunner } from 'typeorm';

/** TypeORM 1 calls it `dataSource`, TypeORM 0.3 `connection`. */
export function dataSourceOf(owner: QueryRunner | EntityManager): DataSource {
  return owner.dataSource ?? (owner as unknown as { connection: DataSource }).connection;
}
