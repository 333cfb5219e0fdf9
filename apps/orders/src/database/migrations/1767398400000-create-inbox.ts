import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * For idempotency records outside of this database: after a crash or a stall, they cannot tell what has been committed
 * here. The table is there with either store, so that the store can be changed without a migration.
 */
export class CreateInbox1767398400000 implements MigrationInterface {
  readonly name = 'CreateInbox1767398400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "inbox_entry" (
        "step_key" varchar(64) NOT NULL,
        "subject" text NOT NULL,
        "outcome" text,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "inbox_entry_pkey" PRIMARY KEY ("step_key")
      )`);
    await queryRunner.query(`CREATE INDEX "inbox_entry_created_at" ON "inbox_entry" ("created_at")`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "inbox_entry"`);
  }
}
