import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateOrders1767225600000 implements MigrationInterface {
  readonly name = 'CreateOrders1767225600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "product" (
        "sku" varchar(64) NOT NULL,
        "name" varchar(200) NOT NULL,
        "price" integer NOT NULL,
        "currency" char(3) NOT NULL,
        "stock" integer NOT NULL,
        CONSTRAINT "product_pkey" PRIMARY KEY ("sku"),
        CONSTRAINT "product_stock_not_negative" CHECK ("stock" >= 0)
      )`);
    await queryRunner.query(`
      CREATE TABLE "orders" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "customer_id" varchar(64) NOT NULL,
        "status" varchar(16) NOT NULL DEFAULT 'created',
        "total" integer NOT NULL,
        "currency" char(3) NOT NULL,
        "charge_id" varchar(64),
        "refund_id" varchar(64),
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "orders_pkey" PRIMARY KEY ("id")
      )`);
    await queryRunner.query(
      `CREATE INDEX "orders_customer_id_created_at" ON "orders" ("customer_id", "created_at")`,
    );
    await queryRunner.query(`
      CREATE TABLE "order_line" (
        "order_id" uuid NOT NULL,
        "sku" varchar(64) NOT NULL,
        "quantity" integer NOT NULL,
        "unit_price" integer NOT NULL,
        CONSTRAINT "order_line_pkey" PRIMARY KEY ("order_id", "sku"),
        CONSTRAINT "order_line_quantity_positive" CHECK ("quantity" > 0),
        CONSTRAINT "order_line_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "orders" ("id") ON DELETE CASCADE,
        CONSTRAINT "order_line_sku_fkey" FOREIGN KEY ("sku") REFERENCES "product" ("sku")
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "order_line"`);
    await queryRunner.query(`DROP TABLE "orders"`);
    await queryRunner.query(`DROP TABLE "product"`);
  }
}
