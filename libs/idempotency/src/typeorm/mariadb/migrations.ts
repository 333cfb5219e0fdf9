import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CREATE_TABLE, TABLE } from './mariadb-records.js';

/** @internal */
export class CreateMariaDbIdempotencyRecords1790000000000 implements MigrationInterface {
  readonly name = 'CreateMariaDbIdempotencyRecords1790000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(CREATE_TABLE);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE ${TABLE}`);
  }
}

/**
 * The migrations that create and change the table of `MariaDbIdempotencyStore`, in order. Put them before your own:
 * `migrations: [...mariaDbIdempotencyMigrations, …]`.
 *
 * @publicApi
 */
export const mariaDbIdempotencyMigrations = [CreateMariaDbIdempotencyRecords1790000000000];
