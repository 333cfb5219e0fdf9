import { DataSource } from 'typeorm';

/**
 * Lets every row say which transaction wrote it. `xmin` would not do: a savepoint has a transaction id of its
 * own, and this column has the one of the transaction around it.
 */
export async function markRowsWithTransaction(dataSource: DataSource): Promise<void> {
  for (const table of tables(dataSource)) {
    await dataSource.query(`ALTER TABLE ${table} ADD COLUMN written_by xid8 DEFAULT pg_current_xact_id()`);
  }
}

/** The transactions that wrote what is in the tables now, one per table and transaction. */
export async function writers(dataSource: DataSource): Promise<{ table: string; transaction: string }[]> {
  const selects = tables(dataSource).map(
    (table) => `SELECT DISTINCT '${table}' AS "table", written_by::text AS transaction FROM ${table}`,
  );
  return dataSource.query(selects.join(' UNION ALL '));
}

function tables(dataSource: DataSource): string[] {
  return dataSource.entityMetadatas.map(({ tablePath }) => tablePath);
}
