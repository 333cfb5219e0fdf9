import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('product')
@Check('product_stock_not_negative', '"stock" >= 0')
export class Product {
  @PrimaryColumn({ type: 'varchar', length: 64, primaryKeyConstraintName: 'product_pkey' })
  sku: string;

  @Column({ type: 'varchar', length: 200 })
  name: string;

  /** In the currency's minor unit: yen for JPY, cents for EUR. */
  @Column({ type: 'integer' })
  price: number;

  @Column({ type: 'char', length: 3 })
  currency: string;

  @Column({ type: 'integer' })
  stock: number;
}
