import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The fake gateway forgets the keys that it has had so far: it could not compare what they come with. */
export class RememberGatewayRequests1767484800000 implements MigrationInterface {
  readonly name = 'RememberGatewayRequests1767484800000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM "fake_gateway_entry"`);
    await queryRunner.query(`ALTER TABLE "fake_gateway_entry" ADD COLUMN "request" jsonb NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "fake_gateway_entry" DROP COLUMN "request"`);
  }
}
