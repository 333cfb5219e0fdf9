import { Column, CreateDateColumn, Entity, Index, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { OrderLine } from './order-line.entity.js';
import { OrderStatus } from './order-status.js';

/** The table is `orders`, since `order` is a keyword of SQL. */
@Entity('orders')
@Index('orders_customer_id_created_at', ['customerId', 'createdAt'])
export class Order {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'orders_pkey' })
  id: string;

  @Column({ name: 'customer_id', type: 'varchar', length: 64 })
  customerId: string;

  @Column({ type: 'varchar', length: 16, default: OrderStatus.Created })
  status: OrderStatus;

  /** In the currency's minor unit. */
  @Column({ type: 'integer' })
  total: number;

  @Column({ type: 'char', length: 3 })
  currency: string;

  @Column({ name: 'charge_id', type: 'varchar', length: 64, nullable: true })
  chargeId: string | null;

  @Column({ name: 'refund_id', type: 'varchar', length: 64, nullable: true })
  refundId: string | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @OneToMany('OrderLine', 'order')
  lines: OrderLine[];
}
