import { Check, Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Product } from '../products/product.entity.js';
import { Order } from './order.entity.js';

@Entity('order_line')
@Check('order_line_quantity_positive', '"quantity" > 0')
export class OrderLine {
  @PrimaryColumn({ name: 'order_id', type: 'uuid', primaryKeyConstraintName: 'order_line_pkey' })
  orderId: string;

  @PrimaryColumn({ type: 'varchar', length: 64, primaryKeyConstraintName: 'order_line_pkey' })
  sku: string;

  @Column({ type: 'integer' })
  quantity: number;

  /** The price at the time of the order, in the currency's minor unit. */
  @Column({ name: 'unit_price', type: 'integer' })
  unitPrice: number;

  @ManyToOne(() => Order, (order) => order.lines, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'order_id', foreignKeyConstraintName: 'order_line_order_id_fkey' })
  order: Order;

  @ManyToOne(() => Product, { nullable: false })
  @JoinColumn({ name: 'sku', foreignKeyConstraintName: 'order_line_sku_fkey' })
  product: Product;
}
