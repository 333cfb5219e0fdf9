import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreatePayments1767312000000 implements MigrationInterface {
  readonly name = 'CreatePayments1767312000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "gateway_customer" (
        "customer_id" varchar(64) NOT NULL,
        "id" varchar(64) NOT NULL,
        CONSTRAINT "gateway_customer_pkey" PRIMARY KEY ("customer_id")
      )`);
    await queryRunner.query(`
      CREATE TABLE "fake_gateway_entry" (
        "idempotency_key" varchar(255) NOT NULL,
        "id" varchar(64) NOT NULL,
        CONSTRAINT "fake_gateway_entry_pkey" PRIMARY KEY ("idempotency_key")
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "fake_gateway_entry"`);
    await queryRunner.query(`DROP TABLE "gateway_customer"`);
  }
}
