import type { MigrationInterface, QueryRunner } from 'typeorm';
import { IdempotencyRecord } from '../idempotency-record.entity.js';
import { createRecordTable, declaredTable } from '../record-schema.js';
import { type RecordTable, recordTable } from '../record-table.js';
import { dataSourceOf } from '../typeorm-versions.js';

/** @internal */
export class CreateIdempotencyRecords1790000000000 implements MigrationInterface {
  readonly name = 'CreateIdempotencyRecords1790000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of createRecordTable(tableOf(queryRunner))) {
      await queryRunner.query(statement);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE ${tableOf(queryRunner).name}`);
  }
}

function tableOf(queryRunner: QueryRunner): RecordTable {
  const dataSource = dataSourceOf(queryRunner);
  return dataSource.hasMetadata(IdempotencyRecord)
    ? recordTable(dataSource.getMetadata(IdempotencyRecord))
    : declaredTable();
}
