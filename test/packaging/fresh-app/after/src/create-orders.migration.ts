import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateOrders1767225600000 implements MigrationInterface {
  readonly name = 'CreateOrders1767225600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE orders (id serial PRIMARY KEY, item text NOT NULL)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE orders');
  }
}
